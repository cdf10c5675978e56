import type { ReactNode } from "react";
import { AppShell } from "../../ui/shell/app-shell.tsx";

export default function ConsoleLayout({ children }: { readonly children: ReactNode }) {
  return <AppShell>{children}</AppShell>;
}
