"use strict";
// Filters and sorts the questions, and unpacks what a reader opens. It loads nothing.
(() => {
  const { columns, questions } = JSON.parse(document.getElementById("data").textContent);
  const field = (id) => document.getElementById(id);
  const list = field("list");
  const items = [...list.children];
  const names = [...field("run").options].slice(1).map((option) => option.textContent);

  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(field(`${id}-pack`).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new DOMParser().parseFromString(await new Response(stream).text(), "text/html").body;
  }

  // Once per element: what is in it stays in it.
  async function fill(element) {
    const packs = element.dataset.packs;
    if (!packs) return;
    delete element.dataset.packs;
    try {
      for (const id of packs.split(" ")) element.append(...(await unpacked(id)).childNodes);
    } catch (error) {
      element.append(`This browser cannot show it (${error.message}): a newer one can.`);
    }
  }

  async function reveal(hash) {
    const target = hash.length > 1 && field(hash.slice(1));
    if (!target) return;
    if (target.parentElement === list) target.hidden = false;
    for (let each = target.closest("details"); each; each = each.parentElement?.closest("details")) each.open = true;
    target.scrollIntoView({ block: "nearest" });
  }

  function value(question, run, column) {
    const found = question.scores
      .filter((scores, place) => scores && (run === "" || place === Number(run)))
      .map((scores) => scores[column])
      .filter((score) => score !== null);
    return found.length ? found.reduce((sum, score) => sum + score, 0) / found.length : null;
  }

  function short(score) {
    if (score === null || score === undefined) return "–";
    return String(Math.abs(score) >= 100 ? Math.round(score) : Number(score.toPrecision(3)));
  }

  function scored(question, column) {
    const scores = question.scores.map((all, place) => [names[place], all && all[column]]);
    return scores.map(([name, score]) => (names.length > 1 ? `${name} ${short(score)}` : short(score))).join(" · ");
  }

  function update() {
    const words = field("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [run, category, column] = [field("run").value, field("category").value, Number(field("score").value)];
    const [order, failed] = [Number(field("order").value), field("failed").checked];
    const rows = questions.map((question, place) => {
      const asked = run === "" || question.scores[run];
      const fell = run === "" ? question.failed.length > 0 : question.failed.includes(Number(run));
      const fits =
        asked &&
        (!failed || fell) &&
        (!category || question.categories.includes(category)) &&
        words.every((word) => question.text.includes(word));
      items[place].hidden = !fits;
      items[place].querySelector(".score").textContent = columns.length ? scored(question, column) : "";
      return { place, fits, score: order ? value(question, run, column) : null };
    });
    // Questions without the score come last, whichever way the others are sorted.
    rows.sort(
      (a, b) =>
        (a.score === null) - (b.score === null) || order * ((a.score ?? 0) - (b.score ?? 0)) || a.place - b.place,
    );
    list.append(...rows.map(({ place }) => items[place]));
    field("count").textContent = `${rows.filter(({ fits }) => fits).length} of ${rows.length} questions`;
  }

  for (const category of new Set(questions.flatMap((question) => question.categories))) {
    field("category").append(new Option(category, category));
  }
  field("metric").addEventListener("change", (event) => {
    for (const each of document.querySelectorAll(".metric")) each.hidden = each.dataset.column !== event.target.value;
  });
  field("filter").addEventListener("input", update);
  field("filter").addEventListener("submit", (event) => event.preventDefault());
  // "toggle" does not bubble.
  document.addEventListener("toggle", (event) => event.target.open && fill(event.target), true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) reveal(link.hash);
  });
  update();
  reveal(location.hash);
})();
