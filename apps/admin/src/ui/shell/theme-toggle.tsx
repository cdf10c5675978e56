"use client";

import { Monitor, Moon, Sun } from "lucide-react";
import { useEffect, useState } from "react";
import { keepTheme, showTheme, storedTheme, type Theme, themes } from "./theme.ts";

const icons = { light: Sun, dark: Moon, system: Monitor } as const;
const names = { light: "Light", dark: "Dark", system: "As the system" } as const;

export function ThemeToggle() {
  // Unknown until the browser says: the server does not know what was chosen.
  const [theme, setTheme] = useState<Theme | null>(null);
  useEffect(() => setTheme(storedTheme()), []);
  useEffect(() => {
    if (theme !== "system") return;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => showTheme("system");
    dark.addEventListener("change", follow);
    return () => dark.removeEventListener("change", follow);
  }, [theme]);
  return (
    <fieldset className="contents" aria-label="Theme">
      {themes.map((each) => {
        const Icon = icons[each];
        return (
          <button
            key={each}
            type="button"
            aria-pressed={theme === each}
            title={names[each]}
            onClick={() => {
              keepTheme(each);
              setTheme(each);
            }}
          >
            <Icon className="ic ic-s" aria-hidden />
            <span className="vh">{names[each]}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
