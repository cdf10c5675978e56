"use client";

import { ChevronRight } from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { Keyboard } from "../palette/keyboard.tsx";
import { BrandMark } from "./brand.tsx";
import { LivePill } from "./live-pill.tsx";
import { isWithin, pageGroups } from "./pages.ts";

/** Where am I, and how fresh is it. */
export function TopBar() {
  const pathname = usePathname();
  const page = pageGroups.flat().find((each) => isWithin(each, pathname));
  const rest = page === undefined || page.href === "/" ? "" : pathname.slice(page.href.length + 1);
  return (
    <header className="topbar">
      <Link className="brand" href="/" aria-label="llmgw overview">
        <BrandMark />
      </Link>
      <nav aria-label="Breadcrumb" className="min-w-0">
        <ol className="crumbs">
          {page !== undefined && rest !== "" && (
            <li>
              <Link href={page.href}>{page.name}</Link>
              <ChevronRight className="ic ic-s" aria-hidden />
            </li>
          )}
          <li>
            <span aria-current="page">{rest === "" ? (page?.name ?? "llmgw") : decodeURIComponent(rest)}</span>
          </li>
        </ol>
      </nav>
      <span className="grow" />
      <Keyboard />
      <LivePill />
    </header>
  );
}
