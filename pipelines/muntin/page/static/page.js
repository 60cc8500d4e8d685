// Light or dark as the page around is; a click on a command or a value copies it.
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
