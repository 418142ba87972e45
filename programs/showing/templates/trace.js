"use strict";
// Finds steps by words and follows links, in every trace on the page and those that come later. It loads nothing.
(() => {
  const live = document.documentElement.dataset;
  if (live.aspectragTrace) return;
  live.aspectragTrace = "live";
  const RANGES = 2000;
  const texts = new WeakMap();
  const folds = new WeakMap();
  const root = (element) => element.closest?.(".aspectrag-trace");
  const steps = (view) => [...view.querySelectorAll(".step")];
  const own = (step) => [step.querySelector(":scope > summary .line"), ...step.querySelectorAll(":scope > .inside > :not(.step)")];
  const parts = (step) => step.querySelectorAll(":scope > .inside > .parts > .part");

  // What a step says, but for the steps inside it: by part, once.
  function said(step) {
    if (!texts.has(step)) {
      const found = own(step).filter((each) => !each.matches(".parts")).map((each) => ["", each]);
      for (const part of parts(step)) found.push([part.dataset.part, part.lastElementChild]);
      texts.set(step, found.map(([label, each]) => [label, each.textContent.toLowerCase()]));
    }
    return texts.get(step);
  }

  function reset(view, all) {
    for (const each of view.querySelectorAll(".where")) each.remove();
    const before = folds.get(view);
    for (const step of all) {
      step.hidden = false;
      if (before) step.open = before.has(step);
    }
    folds.delete(view);
  }

  function find(view) {
    const words = view.querySelector(".find").value.toLowerCase().trim();
    const all = steps(view);
    const output = view.querySelector(".found");
    reset(view, all);
    CSS.highlights?.delete("aspectrag-found");
    output.textContent = "";
    if (!words) return;
    folds.set(view, new Set(all.filter((step) => step.open)));
    const kept = new Set();
    const hits = [];
    for (const step of all) {
      const fits = said(step).filter(([, text]) => text.includes(words));
      if (!fits.length) continue;
      hits.push(step);
      const where = document.createElement("span");
      where.className = "where";
      where.textContent = fits.map(([label]) => label).filter(Boolean).join(", ");
      if (where.textContent) step.querySelector(":scope > summary .line").after(where);
      kept.add(step);
      for (let up = step.parentElement.closest(".step"); up && !(kept.has(up) && up.open); up = up.parentElement.closest(".step")) {
        kept.add(up);
        up.open = true;
      }
    }
    for (const step of all) step.hidden = !kept.has(step);
    output.textContent = `${hits.length} of ${all.length}`;
    mark(hits, words);
  }

  function mark(hits, words) {
    if (!CSS.highlights) return;
    const ranges = [];
    for (const step of hits) {
      for (const each of own(step)) {
        const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node && ranges.length < RANGES; node = walker.nextNode()) {
          const text = node.data.toLowerCase();
          // Letters that change their length with their case would shift what follows.
          for (let at = text.length === node.length ? text.indexOf(words) : -1; at >= 0; at = text.indexOf(words, at + words.length)) {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + words.length);
            ranges.push(range);
          }
        }
      }
    }
    CSS.highlights.set("aspectrag-found", new Highlight(...ranges));
  }

  function show(view, id) {
    const target = view.querySelector(`#${CSS.escape(id)}`);
    if (!target) return false;
    for (let up = target; up && up !== view; up = up.parentElement) {
      if (up.hidden) up.hidden = false;
      if (up.tagName === "DETAILS") up.open = true;
    }
    for (const each of view.querySelectorAll(".here")) each.classList.remove("here");
    target.classList.add("here");
    target.scrollIntoView({ block: "nearest" });
    return true;
  }

  let waiting;
  document.addEventListener("input", (event) => {
    const view = root(event.target);
    if (!view || !event.target.matches(".find")) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => find(view), 120);
  }, true);
  document.addEventListener("click", (event) => {
    const view = event.target.closest && root(event.target);
    if (!view) return;
    const link = event.target.closest('a[href^="#"]');
    if (link && show(view, link.hash.slice(1))) event.preventDefault();
    const button = event.target.closest(".unfold");
    if (button) for (const step of steps(view)) step.open = button.value === "open" || step.parentElement === view;
  }, true);
})();
