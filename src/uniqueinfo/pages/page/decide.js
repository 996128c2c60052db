"use strict";
/* Suspects one after another, decided by keys or buttons. The report and the served review share this.

   backend.next(), .decide(id, decision, label), .undo() give a promise of {sample, progress};
   sample: {id, label, suggested, chance, says: [[class, probability]], place, view, similar: [{label, samples: [{id, view}]}]}
   view: {picture, text, row}, each if there is one; progress: {decided, left, agreement, can_undo}. */
const uniqueinfoDecide = (root, backend, classes) => {
  const keys = { a: "accept", k: "keep", l: "other", d: "drop", u: "unsure", z: "undo", Backspace: "undo" };
  let sample = null, progress = null, busy = false;

  /** An element with text as text: nothing a user supplied is ever read as markup. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  const percent = (share) => (share > 0.995 && share < 1 ? "> 99 %" : share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`);

  function look(view, alt) {
    const parts = [];
    if (view?.picture) {
      const image = make("img", { src: view.picture, alt });
      const sharpen = () => image.classList.toggle("small", image.naturalWidth <= 48);
      image.complete ? sharpen() : image.addEventListener("load", sharpen);
      parts.push(make("span", { class: "picture" }, image));
    }
    if (view?.text) parts.push(make("span", { class: "text" }, view.text));
    if (view?.row) parts.push(make("span", { class: "cells" }, ...view.row.map(([name, value]) => make("span", {}, make("b", {}, name), ` ${value}`))));
    return parts;
  }

  const said = make("p", { class: "said", role: "status", "aria-live": "polite" });
  const alarm = make("p", { class: "alarm", role: "alert", hidden: "" });
  const stage = make("div", { class: "stage" });
  const search = make("input", { type: "search", autocomplete: "off", "aria-label": "Find a label", placeholder: "type to find" });
  const choice = make("select", { size: "8", "aria-label": "Labels" });
  const chooser = make("dialog", { class: "chooser", "aria-labelledby": "chooser-title" },
    make("form", { method: "dialog" },
      make("h2", { id: "chooser-title" }, "Another label"), make("button", { type: "submit", class: "close", value: "", "aria-label": "Close" }, "×")),
    make("div", { class: "choices" }, search, choice, make("button", { type: "button", class: "primary" }, "Take this label")));
  root.append(alarm, stage, said, chooser);

  function button(what, text, extra = {}) {
    const key = Object.keys(keys).find((name) => keys[name] === what);
    return make("button", { type: "button", "data-do": what, "aria-keyshortcuts": key.toUpperCase(), ...extra },
      make("kbd", { "aria-hidden": "true" }, key.toUpperCase()), make("span", {}, text));
  }

  function says() {
    const lines = sample.says.map(([name, share], number) => {
      const bar = make("i", { "aria-hidden": "true" });
      bar.style.width = `${100 * share}%`;
      const taken = name === sample.label ? "as given" : name === sample.suggested ? "suggested" : "";
      return make("li", {}, make("button", { type: "button", "data-label": name, "aria-keyshortcuts": String(number + 1) },
        make("kbd", { "aria-hidden": "true" }, String(number + 1)), make("span", { class: "class" }, name, taken ? make("small", {}, taken) : null),
        make("span", { class: "bar" }, bar), make("span", { class: "share" }, percent(share))));
    });
    return [make("h3", {}, "What the network says without it"), make("ol", { class: "says" }, ...lines)];
  }

  function alike(group) {
    if (!group.samples.length) return null;
    const cards = group.samples.map((one) => make("li", {}, make("div", { class: "card" }, ...look(one.view, `Sample ${one.id}`),
      make("span", { class: "facts" }, make("span", { class: "name" }, one.id)))));
    const kind = group.label === sample.label ? "as it is labelled" : "as suggested";
    return make("section", {}, make("h3", {}, "Most similar, labelled ", make("strong", {}, group.label), make("small", {}, kind)), make("ul", { class: "cards" }, ...cards));
  }

  function draw() {
    if (!sample) {
      const done = make("h2", { tabindex: "-1" }, progress.decided ? "Nothing is left to decide" : "No label looks wrong");
      const undo = button("undo", "Undo", progress.can_undo ? {} : { disabled: "" });
      stage.replaceChildren(make("div", { class: "done" }, done, make("p", {}, progress.done ?? ""), make("div", { class: "actions" }, undo)));
      return done;
    }
    const title = make("h2", { tabindex: "-1" }, "Labelled ", make("s", {}, sample.label), ": is it ", make("strong", {}, sample.suggested), "?");
    const chance = sample.chance === null || sample.chance === undefined ? null
      : make("p", { class: "chance" }, "The label is wrong with a probability of ", make("strong", {}, percent(sample.chance)), ".");
    const actions = make("div", { class: "actions", role: "group", "aria-label": "Decide" },
      button("accept", `It is ${sample.suggested}`, { class: "primary" }), button("keep", `Keep ${sample.label}`),
      button("other", "Another label …"), button("drop", "Drop the sample"), button("unsure", "Unsure"),
      button("undo", "Undo", progress.can_undo ? {} : { disabled: "" }));
    const view = look(sample.view, `Sample ${sample.id}`);
    const similar = sample.similar.map(alike).filter((part) => part !== null);
    stage.replaceChildren(
      make("div", { class: "pane" },
        view.length ? make("div", { class: "big" }, ...view) : null,
        make("div", { class: "verdict" },
          make("p", { class: "name" }, sample.id, sample.place === "held out" ? " · held out for validation" : ""), title, chance, actions, ...says())),
      similar.length ? make("div", { class: "alike" }, ...similar) : "");
    return title;
  }

  async function turn(asked, words) {
    if (busy) return;
    busy = true;
    root.setAttribute("aria-busy", "true");
    try {
      ({ sample, progress } = await asked());
      alarm.hidden = true;
      const title = draw();
      said.textContent = words;
      root.dispatchEvent(new CustomEvent("turned", { detail: { sample, progress } }));
      if (!chooser.open && words !== "") title.focus({ preventScroll: true });
      if (words !== "") root.scrollIntoView({ block: "start" });
    } catch (failure) {
      alarm.textContent = failure.message;
      alarm.hidden = false;
    } finally {
      busy = false;
      root.removeAttribute("aria-busy");
    }
  }

  function decide(decision, label = null) {
    if (!sample) return;
    if (label === sample.label) [decision, label] = ["keep", null];
    const id = sample.id;
    const words = { keep: `Kept ${sample.label}`, relabel: `Relabelled ${label}`, drop: "Dropped", unsure: "Left open" }[decision];
    return turn(() => backend.decide(id, decision, label), `${words}: ${id}.`);
  }

  function choices() {
    const wanted = search.value.trim().toLowerCase();
    const found = classes.filter((name) => name !== sample.label && name.toLowerCase().includes(wanted));
    choice.replaceChildren(...found.map((name) => make("option", { value: name }, name)));
    choice.selectedIndex = found.length ? 0 : -1;
  }

  function take() {
    if (choice.selectedIndex < 0) return;
    const label = choice.value;
    chooser.close();
    decide("relabel", label);
  }

  const act = {
    accept: () => decide("relabel", sample?.suggested),
    keep: () => decide("keep"),
    drop: () => decide("drop"),
    unsure: () => decide("unsure"),
    undo: () => (progress?.can_undo ? turn(() => backend.undo(), "Taken back.") : undefined),
    other: () => { if (!sample) return; search.value = ""; choices(); chooser.showModal(); search.focus(); },
  };

  search.addEventListener("input", choices);
  search.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choice.selectedIndex = Math.max(0, Math.min(choice.length - 1, choice.selectedIndex + step));
    } else if (event.key === "Enter") { event.preventDefault(); take(); }
  });
  choice.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); take(); } });
  choice.addEventListener("dblclick", take);
  chooser.querySelector(".primary").addEventListener("click", take);

  root.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (pressed?.dataset.do) act[pressed.dataset.do]();
    else if (pressed && "label" in pressed.dataset) decide("relabel", pressed.dataset.label);
  });

  /** A key pressed somewhere on the page; whether it was one of ours. */
  function key(event) {
    const typing = event.target.closest?.("input, select, textarea, dialog.chooser");
    if (typing || chooser.open || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return false;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const line = sample && /^[1-9]$/.test(name) ? sample.says[Number(name) - 1] : undefined;
    if (!(name in keys) && !line) return false;
    event.preventDefault();
    line ? decide("relabel", line[0]) : act[keys[name]]();
    return true;
  }

  return { key, start: () => turn(() => backend.next(), ""), again: (words) => turn(() => backend.next(), words) };
};
