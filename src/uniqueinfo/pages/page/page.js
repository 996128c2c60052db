(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const perPage = 25;
  const at = Object.fromEntries(data.columns.map((column, number) => [column.name, number + 1]));
  const rows = new Map(data.rows.map((row) => [row[0], row]));
  const pictures = new Map();
  for (const image of document.querySelectorAll("img[data-sample]")) pictures.set(Number(image.dataset.sample), image.src);
  const state = { sort: data.sort, down: true, page: 0, chosen: {}, search: "", suspects: false };
  const find = (id) => document.getElementById(id);

  /** An element with text as text: nothing a user supplied is ever read as markup. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  function number(value) {
    if (value === null) return "–";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size >= 1e-3 && size < 1e5) return Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
    return value.toExponential(2);
  }

  function text(column, row) {
    const value = row[at[column.name]];
    if (column.kind === "number") return number(value);
    if (value === null) return "–";
    return column.kind === "choice" ? column.choices[value] : value;
  }

  const named = (name) => data.columns[at[name] - 1];
  const said = (name, row) => (name in at ? text(named(name), row) : null);
  const plural = (count) => `${count.toLocaleString("en")} sample${count === 1 ? "" : "s"}`;

  function sharpen(image) {
    const set = () => image.classList.toggle("small", image.naturalWidth <= 48);
    image.complete ? set() : image.addEventListener("load", set);
    return image;
  }

  function look(view, picture, alt) {
    const parts = [];
    if (picture) parts.push(make("span", { class: "picture" }, sharpen(make("img", { src: picture, alt }))));
    if (view.text) parts.push(make("span", { class: "text" }, view.text));
    if (view.row) {
      const cells = view.row.map(([name, value]) => make("span", {}, make("b", {}, name), ` ${value}`));
      parts.push(make("span", { class: "cells" }, ...cells));
    }
    return parts;
  }

  // The table

  function matching() {
    const wanted = state.search.trim().toLowerCase();
    const searched = data.columns.filter((column) => column.kind === "text" || column.name === "id");
    const chosen = Object.entries(state.chosen).filter(([, value]) => value !== "");
    const suspect = state.suspects ? named("suspect").choices.indexOf("yes") : null;
    return data.rows.filter((row) =>
      chosen.every(([name, value]) => row[at[name]] === Number(value)) &&
      (suspect === null || row[at.suspect] === suspect) &&
      (wanted === "" || searched.some((column) => text(column, row).toLowerCase().includes(wanted))));
  }

  const collator = new Intl.Collator("en", { numeric: true });

  function sorted(found) {
    const column = named(state.sort), place = at[state.sort], sign = state.down ? -1 : 1;
    return found.sort((one, other) => {
      const a = one[place], b = other[place];
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (column.kind === "text" ? collator.compare(a, b) : a - b);
    });
  }

  function show() {
    const found = sorted(matching());
    const pages = Math.max(1, Math.ceil(found.length / perPage));
    state.page = Math.min(state.page, pages - 1);
    const first = state.page * perPage, part = found.slice(first, first + perPage);
    find("table").tBodies[0].replaceChildren(...part.map(line));
    for (const head of find("table").tHead.querySelectorAll("th[data-name]")) {
      const own = head.dataset.name === state.sort;
      head.setAttribute("aria-sort", own ? (state.down ? "descending" : "ascending") : "none");
    }
    find("count").textContent = found.length
      ? `${(first + 1).toLocaleString("en")}–${(first + part.length).toLocaleString("en")} of ${plural(found.length)}`
      : "No sample fits: loosen the filters.";
    find("page").textContent = `Page ${state.page + 1} of ${pages}`;
    find("previous").disabled = state.page === 0;
    find("next").disabled = state.page >= pages - 1;
    find("pager").hidden = pages === 1;
  }

  const pictured = pictures.size > 0;

  function line(row) {
    const cells = data.columns.map((column) => {
      if (column.name === "id") {
        return make("td", {}, make("button", { type: "button", class: "open", "data-open": row[0] }, text(column, row)));
      }
      const differs = column.name === "prediction" && said("label", row) !== text(column, row);
      const kind = column.kind === "number" ? "n" : differs ? "differs" : "";
      return make("td", kind ? { class: kind } : {}, text(column, row));
    });
    if (pictured) {
      const source = pictures.get(row[0]) ?? data.views[row[0]]?.picture;
      cells.unshift(make("td", { class: "thumb" }, source ? sharpen(make("img", { src: source, alt: "" })) : ""));
    }
    return make("tr", { "data-open": row[0] }, ...cells);
  }

  function head() {
    const cells = data.columns.map((column) => {
      const button = make("button", { type: "button", title: column.meaning }, column.title);
      button.addEventListener("click", () => {
        state.down = state.sort === column.name ? !state.down : column.kind === "number" && column.name !== "margin";
        state.sort = column.name;
        state.page = 0;
        show();
      });
      return make("th", { scope: "col", "data-name": column.name, ...(column.kind === "number" ? { class: "n" } : {}) }, button);
    });
    if (pictured) cells.unshift(make("th", { scope: "col" }, make("span", { class: "hidden" }, "Picture")));
    find("table").tHead.replaceChildren(make("tr", {}, ...cells));
  }

  // Filters

  function filters() {
    const form = find("filters");
    const search = make("input", { type: "search", name: "search", placeholder: "id", autocomplete: "off" });
    form.append(make("label", {}, "Search", search));
    for (const column of data.columns) {
      if (column.kind !== "choice" || column.choices.length < 2 || column.name === "suspect") continue;
      const options = column.choices.map((choice, value) => make("option", { value }, choice));
      form.append(make("label", {}, column.title, make("select", { name: column.name }, make("option", { value: "" }, "all"), ...options)));
    }
    if ("suspect" in at && named("suspect").choices.includes("yes")) {
      form.append(make("label", { class: "check" }, make("input", { type: "checkbox", name: "suspects" }), "suspects only"));
    }
    form.append(make("button", { type: "reset" }, "Clear"));
    const read = () => {
      state.search = search.value;
      state.suspects = form.elements.suspects?.checked ?? false;
      for (const select of form.querySelectorAll("select")) state.chosen[select.name] = select.value;
      state.page = 0;
      show();
    };
    search.addEventListener("input", read);
    form.addEventListener("change", read);
    form.addEventListener("reset", () => setTimeout(read));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
  }

  // One sample

  function effect([j, output, change]) {
    const view = data.validation[j] ?? {};
    const called = data.validation_names[j] ?? j;
    const name = data.outputs[output];
    const way = change >= 0 ? "up" : "down";
    return make("li", {},
      ...look(view, view.picture, `Validation sample ${called}`),
      make("span", { class: "name" }, `validation ${called}${view.caption ? ` · ${view.caption}` : ""}`),
      make("span", {}, make("span", { class: way }, `${change >= 0 ? "▲ raises" : "▼ lowers"} ${name}`), ` by ${number(Math.abs(change))}`));
  }

  function open(sample) {
    const row = rows.get(sample);
    const view = data.views[sample] ?? {};
    find("detail-title").textContent = said("id", row);
    const facts = data.columns.filter((column) => column.name !== "id").map((column) =>
      make("div", {}, make("dt", { title: column.meaning }, column.title), make("dd", {}, text(column, row))));
    const effects = data.effects[sample];
    const felt = effects
      ? [make("h3", {}, "Where it is felt"), make("p", {}, "The validation samples it moves most: what training with it, rather than without, does to their outputs."), make("ul", { class: "effects" }, ...effects.map(effect))]
      : said("place", row) === "held out" ? [make("p", { class: "none" }, "It was held out for validation: its scores say what it would add.")]
      : [make("p", { class: "none" }, "Its effects on single validation samples were not kept; score with effects=6 to see them here.")];
    find("detail-body").replaceChildren(
      make("div", { class: "sample" }, ...look(view, pictures.get(sample) ?? view.picture, "The sample"), make("dl", {}, ...facts)), ...felt);
    find("detail").showModal();
    find("detail").scrollTop = 0;
  }

  // Deciding: as the served review does, without scoring anew; what is decided is handed out as a file

  const made = []; // {sample, decision, label, given, by, at}
  const decidedBy = (id) => made.some((one) => one.sample === id);

  function card(suspect) {
    const view = data.views[suspect.at] ?? {};
    return { ...suspect, view: { ...view, picture: pictures.get(suspect.at) ?? view.picture }, similar: [] };
  }

  function upcoming(first) {
    const left = data.suspects.filter((suspect) => !decidedBy(suspect.id));
    const sample = left.find((suspect) => suspect.id === first) ?? left[0];
    const progress = { decided: made.length, left: left.length, can_undo: made.length > 0, done: "Download your decisions, and hand them to uniqueinfo clean." };
    return Promise.resolve({ sample: sample ? card(sample) : null, progress });
  }

  const backend = {
    next: () => upcoming(),
    decide: (id, decision, label) => {
      const given = data.suspects.find((suspect) => suspect.id === id).label;
      const at = new Date().toISOString().replace(/\.\d+/, "");
      made.push({ sample: id, decision, given, by: find("by").value.trim() || "me", ...(label === null ? {} : { label }), at });
      return upcoming();
    },
    undo: () => upcoming(made.pop()?.sample),
  };

  function handOut({ detail }) {
    const link = find("decisions"), text = made.map((one) => `${JSON.stringify(one)}\n`).join("");
    if (link.href) URL.revokeObjectURL(link.href);
    link.removeAttribute("href");
    if (made.length) link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    link.setAttribute("aria-disabled", String(!made.length));
    find("decided").textContent = `${detail.progress.decided} decided · ${detail.progress.left} left`;
  }

  if (data.suspects.length) {
    const decide = uniqueinfoDecide(find("decide"), backend, data.classes);
    find("decide").addEventListener("turned", handOut);
    find("review").addEventListener("keydown", decide.key);
    for (const offer of document.querySelectorAll(".offer")) offer.hidden = false;
    for (const opener of document.querySelectorAll("[data-decide]")) {
      opener.addEventListener("click", () => { find("review").showModal(); decide.start(); });
    }
    window.addEventListener("beforeunload", (event) => { if (made.length && !find("decisions").dataset.taken) event.preventDefault(); });
    find("decisions").addEventListener("click", (event) => { event.target.dataset.taken = made.length || ""; });
  }

  document.addEventListener("click", (event) => {
    if (event.target === find("detail")) return find("detail").close();
    const opener = event.target.closest("[data-open]");
    if (opener) open(Number(opener.dataset.open));
  });
  find("previous").addEventListener("click", () => { state.page -= 1; show(); });
  find("next").addEventListener("click", () => { state.page += 1; show(); });
  for (const image of document.querySelectorAll("main img")) sharpen(image);
  head();
  filters();
  find("table").hidden = false;
  show();
})();
