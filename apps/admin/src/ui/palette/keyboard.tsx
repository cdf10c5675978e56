"use client";

import { Search } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import { wishOf } from "./shortcuts.ts";

// Read only when asked for: no page is heavier for them.
const Palette = dynamic(() => import("./palette.tsx").then((file) => file.Palette), { ssr: false });
const KeyboardHelp = dynamic(() => import("./keyboard-help.tsx").then((file) => file.KeyboardHelp), { ssr: false });

/** How long after `g` the letter of the page may follow, ms. */
const jumpMs = 1500;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

function focusFilter(): boolean {
  const filter = document.querySelector<HTMLInputElement>("[data-filter]");
  filter?.focus();
  filter?.select();
  return filter !== null;
}

/** The button that opens the palette, and the keys that work on every page. */
export function Keyboard() {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const router = useRouter();
  const jumpUntil = useRef(0);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const wish = wishOf(event, {
        typing: isTyping(event.target),
        inDialog: document.querySelector("[role=dialog], [role=alertdialog], [role=menu]") !== null,
        jumping: event.timeStamp < jumpUntil.current,
      });
      jumpUntil.current = wish?.kind === "jump" ? event.timeStamp + jumpMs : 0;
      if (wish === null || wish.kind === "jump") return;
      if (wish.kind === "filter" && !focusFilter()) return;
      event.preventDefault();
      if (wish.kind === "go") router.push(wish.href);
      else if (wish.kind !== "filter") setOpen(wish.kind);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [router]);
  const close = () => setOpen(null);
  return (
    <>
      <button type="button" className="btn is-find" aria-haspopup="dialog" onClick={() => setOpen("palette")}>
        <Search className="ic" aria-hidden />
        <span>Find</span>
        <kbd aria-hidden>Ctrl K</kbd>
      </button>
      {open === "palette" && <Palette onClose={close} />}
      {open === "help" && <KeyboardHelp onClose={close} />}
    </>
  );
}
