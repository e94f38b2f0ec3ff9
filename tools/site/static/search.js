// Search over the sections of all pages, as one types. The sections are in search-sections.js, a script rather than data, so that
// search also works where pages are opened from the file system: a browser loads no data from there.
"use strict";

const SHOWN_MAX = 50, PER_PAGE_MAX = 3, EXCERPT_CHARACTERS = 220;

function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** How well a section answers: 0 unless it has every word; a heading counts more than text. */
function scoreOf(section, words) {
  let score = 0;
  for (const word of words) {
    const inText = section.text_lower.split(word).length - 1;
    const inHeading = section.heading_lower.includes(word), inTitle = section.title_lower.includes(word);
    if (!inText && !inHeading && !inTitle) return 0;
    score += Math.min(inText, 4) + (inHeading ? 12 : 0) + (inTitle ? 6 : 0);
    if (section.heading_lower.split(/[^\w-]+/).includes(word)) score += 6;
  }
  if (section.heading_lower === words.join(" ")) score += 20;
  return section.anchor ? score : score + 3;
}

/** The best sections, few of each page. */
function found(sections, words) {
  const perPage = {};
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) * section.weight }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .filter(({ section }) => (perPage[section.page] = (perPage[section.page] || 0) + 1) <= PER_PAGE_MAX);
}

/** Text around the first word, with the words marked; as elements, never as HTML. */
function excerpt(text, words) {
  const at = words.map((word) => text.toLowerCase().indexOf(word)).find((place) => place >= 0) || 0;
  const start = at < 60 ? 0 : text.indexOf(" ", at - 60) + 1;
  const rest = text.slice(start);
  const shown = rest.length > EXCERPT_CHARACTERS ? rest.slice(0, rest.lastIndexOf(" ", EXCERPT_CHARACTERS)) : rest;
  const line = document.createElement("p");
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "i");
  if (start) line.append("… ");
  shown.split(pattern).forEach((piece, index) => {
    if (index % 2) line.appendChild(document.createElement("mark")).textContent = piece;
    else line.append(piece);
  });
  if (shown.length < rest.length) line.append(" …");
  return line;
}

function item({ section }, words) {
  const line = document.createElement("li");
  const part = line.appendChild(document.createElement("span"));
  part.className = "part";
  part.textContent = section.part;
  const link = line.appendChild(document.createElement("a"));
  link.href = `${section.page}.html${section.anchor ? "#" + section.anchor : ""}`;
  link.textContent = section.anchor ? `${section.title} › ${section.heading}` : section.title;
  line.appendChild(excerpt(section.text, words));
  return line;
}

function show(sections, query) {
  const words = wordsOf(query);
  const results = words.length ? found(sections, words) : [];
  document.getElementById("results").replaceChildren(...results.slice(0, SHOWN_MAX).map((result) => item(result, words)));
  document.getElementById("found").textContent =
    !words.length ? "" : !results.length ? "No section has all of these words."
    : results.length > SHOWN_MAX ? `The best ${SHOWN_MAX} sections. Another word narrows them down.`
    : results.length === 1 ? "1 section" : `${results.length} sections`;
}

const sections = SECTIONS.map(([page, part, title, heading, anchor, text, weight]) => ({
  page, part, title, heading, anchor, text, weight,
  title_lower: title.toLowerCase(), heading_lower: heading.toLowerCase(), text_lower: text.toLowerCase(),
}));
const field = document.getElementById("query");
field.value = new URLSearchParams(location.search).get("q") || "";
field.addEventListener("input", () => {
  show(sections, field.value);
  history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`);
});
field.form.addEventListener("submit", (event) => event.preventDefault());
show(sections, field.value);
field.focus();
