// Light or dark as the page around is; a click copies a command; a sign while a page loads; the reader's clock; a table sifted by name;
// heads of columns beside cells, for narrow screens.
"use strict";

function theme() {
  try {
    const around = window.parent.document.documentElement.classList;
    if (window.parent !== window && (around.contains("dark") || around.contains("light"))) {
      return around.contains("dark") ? "dark" : "light";
    }
  } catch {
    // another origin around: as the system is
  }
  return null;
}

function paint() {
  const chosen = theme();
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
}

paint();
try {
  if (window.parent !== window) {
    new MutationObserver(paint).observe(window.parent.document.documentElement, { attributes: true, attributeFilter: ["class"] });
  }
} catch {
  // as above
}

document.addEventListener("click", (event) => {
  const code = event.target.closest(".copy");
  if (!code || !navigator.clipboard) return;
  navigator.clipboard.writeText(code.textContent).then(() => {
    code.dataset.copied = "yes";
    setTimeout(() => delete code.dataset.copied, 1200);
  }, () => {});
});

// While the next page is on its way. A page that comes back from the browser's memory is there at once.
const busy = () => { document.documentElement.dataset.loading = "yes"; document.getElementById("loading").textContent = "Loading"; };
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if (link.classList.contains("out")) {
    leave(event, link);
  } else if (!link.getAttribute("href").startsWith("#")) {
    busy();
  }
});
document.addEventListener("submit", busy);
window.addEventListener("pageshow", () => {
  delete document.documentElement.dataset.loading;
  document.getElementById("loading").textContent = "";
});

// Airflow's frame opens nothing outside of itself; the page around it may.
function leave(event, link) {
  try {
    if (window.parent === window) return;
    event.preventDefault();
    const around = window.parent.document.createElement("a");
    around.href = link.href;
    around.click();
  } catch {
    // another origin around: the browser decides
  }
}

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".wide table")) {
    const heads = [...(table.tHead?.rows[0].cells ?? [])].map((head) => head.textContent);
    for (const cell of [...table.tBodies].flatMap((body) => [...body.rows]).flatMap((row) => [...row.cells])) {
      if (cell.tagName === "TD" && cell.colSpan === 1) cell.dataset.head = heads[cell.cellIndex];
    }
  }
  for (const figure of document.querySelectorAll("figure")) figure.scrollLeft = figure.scrollWidth; // the newest is at the right
  const zone = document.getElementById("zone");
  if (zone) {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const names = [...new Set([zone.dataset.zone, "UTC", own])];
    zone.replaceChildren(...names.map((name) => new Option(name, name, name === zone.dataset.zone, name === zone.dataset.zone)));
    zone.addEventListener("change", () => {
      document.cookie = `muntin_timezone=${encodeURIComponent(zone.value)}; path=/; max-age=31536000; samesite=strict`;
      busy();
      location.reload();
    });
  }
  for (const field of document.querySelectorAll("[data-sift]")) {
    const rows = document.querySelectorAll(`#${field.dataset.sift} tbody tr`);
    field.addEventListener("input", () => {
      const asked = field.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(asked);
    });
  }
});
