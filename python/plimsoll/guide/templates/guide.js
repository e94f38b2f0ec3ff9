// Makes the charts answer to a pointer. The page is complete without it: each chart is there as a picture already.
(() => {
  "use strict";
  const narrow = window.matchMedia("(max-width: 40rem)");
  const options = {
    mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false,
    tooltip: { theme: "custom", disableDefaultStyle: true },
  };
  const specOf = (figure) =>
    figure.querySelector(narrow.matches ? ".spec.narrow" : ".spec.wide") || figure.querySelector(".spec");
  const drawn = new Map();
  async function draw(figure) {
    try {
      drawn.get(figure)?.finalize();
      drawn.set(figure, await window.vegaEmbed(figure.querySelector(".live"), JSON.parse(specOf(figure).textContent), options));
      figure.classList.add("is-live");
    } catch (error) {
      figure.classList.remove("is-live");
      console.error(error);
    }
  }
  async function drawAll() {
    for (const figure of document.querySelectorAll("figure.chart")) await draw(figure);
    document.documentElement.dataset.charts = "live";
  }
  // Paper has no summaries to click on.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
  narrow.addEventListener("change", drawAll);
  drawAll();
})();
