(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const store = { get: () => { try { return localStorage.getItem("by"); } catch { return null; } }, set: (name) => { try { localStorage.setItem("by", name); } catch { /* private windows */ } } };
  const by = find("by");
  by.value = new URLSearchParams(location.search).get("by") ?? store.get() ?? data.by;

  async function call(path, body) {
    let answer;
    try {
      answer = await fetch(path, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    } catch {
      throw new Error(`The review has stopped. Start it again (${data.command}) and open the address it prints: what you decided is kept.`);
    }
    const found = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(found.error ?? `The review answered ${answer.status}.`);
    return found;
  }

  const me = () => by.value.trim() || data.by;
  const backend = {
    next: () => call(`next?by=${encodeURIComponent(me())}`),
    decide: (sample, decision, label) => call("decide", { by: me(), sample, decision, label }),
    undo: () => call("undo", { by: me() }),
  };
  const root = find("decide");
  const decide = uniqueinfoDecide(root, backend, data.classes);

  function told(progress) {
    const all = progress.decided + progress.left;
    find("bar").setAttribute("aria-valuemax", all || 1);
    find("bar").setAttribute("aria-valuenow", progress.decided);
    find("bar").firstElementChild.style.width = `${all ? (100 * progress.decided) / all : 100}%`;
    find("count").textContent = `${progress.decided.toLocaleString("en")} decided · ${progress.left.toLocaleString("en")} left for you`;
    const names = Object.entries(progress.people).map(([name, count]) => `${name} ${count.toLocaleString("en")}`);
    find("people").textContent = names.length > 1 ? `Decided by ${names.join(", ")}. ${progress.agreement}` : "";
  }

  root.addEventListener("turned", (event) => told(event.detail.progress));
  document.addEventListener("keydown", decide.key);
  find("who").addEventListener("submit", (event) => { event.preventDefault(); by.blur(); });
  by.addEventListener("change", () => { store.set(me()); by.value = me(); decide.again(`You decide as ${me()}.`); });
  setInterval(() => { if (!document.hidden) call(`progress?by=${encodeURIComponent(me())}`).then(told, () => {}); }, 5000);
  decide.start();
})();
