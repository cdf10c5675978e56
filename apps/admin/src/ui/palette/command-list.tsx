"use client";

import { Search } from "lucide-react";
import { Dialog } from "radix-ui";
import { Fragment, type KeyboardEvent, useId, useState } from "react";
import { ActionError } from "../parts/loaded.tsx";
import { type Command, chosenEntries } from "./entries.ts";
import { useEntries } from "./use-entries.ts";

interface CommandListProps {
  readonly onChoose: (command: Command) => void;
  readonly onClose: () => void;
  readonly busy: boolean;
  readonly error: unknown;
}

/**
 * A combobox whose list is always open (WAI-ARIA 1.2): the focus stays in the text, arrows move the active option, Enter
 * chooses it.
 */
export function CommandList({ onChoose, onClose, busy, error }: CommandListProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const { entries, error: unread } = useEntries();
  const shown = chosenEntries(entries, typed);
  const at = Math.min(active, Math.max(0, shown.length - 1));
  const move = (to: number) => {
    setActive(to);
    document.getElementById(`${id}-${to}`)?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, its keys are its own.
    if (event.nativeEvent.isComposing || shown.length === 0) return;
    const last = shown.length - 1;
    if (event.key === "ArrowDown") move(at === last ? 0 : at + 1);
    else if (event.key === "ArrowUp") move(at === 0 ? last : at - 1);
    else if (event.key === "Enter") {
      const entry = shown[at];
      if (entry !== undefined && !busy) onChoose(entry.command);
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="palette" aria-describedby={undefined}>
          <Dialog.Title className="vh">Go to or do</Dialog.Title>
          <div className="palette-h">
            <Search className="ic" aria-hidden />
            <input
              role="combobox"
              aria-label="Go to a page, node, model, replica or drain, or do something"
              aria-expanded
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={shown.length === 0 ? undefined : `${id}-${at}`}
              value={typed}
              placeholder="A name, or what to do: drain gpu-03"
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => {
                setTyped(event.target.value);
                setActive(0);
              }}
              onKeyDown={onKeyDown}
            />
            <kbd>Esc</kbd>
          </div>
          <div id={`${id}-list`} role="listbox" aria-label="Found" className="palette-b">
            {shown.map((entry, index) => (
              <Fragment key={entry.id}>
                {entry.group !== shown[index - 1]?.group && (
                  <div className="palette-g" role="presentation">
                    {entry.group}
                  </div>
                )}
                {/* biome-ignore lint/a11y/useKeyWithClickEvents: the combobox above takes the keys for it */}
                <div
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === at}
                  className="palette-i"
                  onPointerMove={() => setActive(index)}
                  onClick={() => busy || onChoose(entry.command)}
                >
                  <span className="wrap-anywhere">{entry.label}</span>
                  <span className="faint">{entry.note}</span>
                </div>
              </Fragment>
            ))}
          </div>
          {shown.length === 0 && (
            <p className="palette-e muted" role="status">
              Nothing is called that. Try a part of a name, or a verb: cordon, uncordon, drain, scale.
            </p>
          )}
          <ActionError error={error ?? unread} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
