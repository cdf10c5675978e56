"use client";

import { Dialog } from "radix-ui";
import { pageGroups } from "../shell/pages.ts";
import { jumps } from "./shortcuts.ts";

const keys: readonly (readonly [readonly string[], string])[] = [
  [["Ctrl", "K"], "Find anything, or do something"],
  [["⌘", "K"], "The same on a Mac"],
  [["/"], "Filter the table of this page"],
  [["?"], "This list"],
  [["Esc"], "Close a dialog without doing anything"],
  ...Object.entries(jumps).map(([letter, href]): readonly [readonly string[], string] => [
    ["g", letter],
    `Go to ${pageGroups.flat().find((page) => page.href === href)?.name ?? href}`,
  ]),
];

/** The keys that work on every page. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog is-over is-small" aria-describedby={undefined}>
          <header className="dialog-h">
            <Dialog.Title asChild>
              <h2 className="grow">Keyboard</h2>
            </Dialog.Title>
          </header>
          <dl className="dialog-b keys">
            {keys.map(([pressed, does]) => (
              <div key={does}>
                <dt>
                  {pressed.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <footer className="dialog-f">
            <span className="grow" />
            <Dialog.Close className="btn">Close</Dialog.Close>
          </footer>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
