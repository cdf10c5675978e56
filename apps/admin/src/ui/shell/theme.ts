export const themes = ["light", "dark", "system"] as const;
export type Theme = (typeof themes)[number];

const themeKey = "llmgw-theme";

/**
 * Runs before the first paint, so that a dark page never flashes white. It also hands its nonce to the libraries that
 * insert a style element (the scroll lock of open dialogs): they look for it under this name.
 */
export const themeScript = `(function () {
  var root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)"), chosen = null;
  try { chosen = localStorage.getItem("${themeKey}"); } catch (e) {}
  root.dataset.theme = chosen === "light" || chosen === "dark" ? chosen : dark.matches ? "dark" : "light";
  window.__webpack_nonce__ = document.currentScript.nonce;
})();`;

/** What the visitor chose; "system" when nothing, or when the browser keeps nothing. */
export function storedTheme(): Theme {
  try {
    const chosen = localStorage.getItem(themeKey);
    return chosen === "light" || chosen === "dark" ? chosen : "system";
  } catch {
    return "system";
  }
}

/** Shows a theme without keeping it; "system" follows the operating system. */
export function showTheme(theme: Theme): void {
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

/** Keeps a choice for the next visit; a browser that keeps nothing still shows it now. */
export function keepTheme(theme: Theme): void {
  showTheme(theme);
  try {
    if (theme === "system") localStorage.removeItem(themeKey);
    else localStorage.setItem(themeKey, theme);
  } catch {
    // A private window may refuse to store; the choice then lasts as long as the page.
  }
}
