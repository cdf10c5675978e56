"use client";

import { CircleCheck, X } from "lucide-react";
import Link from "next/link";
import { Toast } from "radix-ui";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

interface Message {
  readonly id: number;
  readonly text: string;
  readonly link: { readonly href: string; readonly label: string } | null;
}

type Say = (text: string, link?: { readonly href: string; readonly label: string }) => void;

const ToastContext = createContext<Say>(() => undefined);

/** Says what an action did: `say("gpu-02 takes new work again")`, with a link to where it can be followed. */
export function useToast(): Say {
  return useContext(ToastContext);
}

let lastId = 0;

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const say = useCallback<Say>((text, link) => {
    lastId += 1;
    setMessages((before) => [...before.slice(-2), { id: lastId, text, link: link ?? null }]);
  }, []);
  const drop = (id: number) => setMessages((before) => before.filter((message) => message.id !== id));
  return (
    <ToastContext value={say}>
      <Toast.Provider swipeDirection="right" duration={8000}>
        {children}
        {messages.map((message) => (
          <Toast.Root key={message.id} className="toast s-healthy" onOpenChange={(open) => open || drop(message.id)}>
            <CircleCheck className="ic" aria-hidden />
            <Toast.Title asChild>
              <b>{message.text}</b>
            </Toast.Title>
            <Toast.Close className="btn is-quiet is-s is-icon" aria-label="Dismiss">
              <X className="ic" aria-hidden />
            </Toast.Close>
            {message.link !== null && (
              <Link className="link" href={message.link.href}>
                {message.link.label}
              </Link>
            )}
          </Toast.Root>
        ))}
        <Toast.Viewport className="toasts" />
      </Toast.Provider>
    </ToastContext>
  );
}
