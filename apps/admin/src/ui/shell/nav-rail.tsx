"use client";

import type { ClusterView } from "@llmgw/api";
import { Menu } from "lucide-react";
import Link from "next/link";
import { usePathname, useRouter } from "next/navigation";
import { DropdownMenu } from "radix-ui";
import { counted } from "../data/format.ts";
import { useCluster } from "../data/live.tsx";
import { useWhoAmI } from "../data/whoami.ts";
import { BrandMark } from "./brand.tsx";
import { isWithin, type Page, pageGroups } from "./pages.ts";
import { ThemeToggle } from "./theme-toggle.tsx";

interface Count {
  readonly value: number;
  readonly state: string;
  readonly word: string;
}

function countOf(page: Page, cluster: ClusterView | undefined): Count | null {
  if (cluster === undefined) return null;
  const plain = (value: number): Count => ({ value, state: "", word: "" });
  switch (page.href) {
    case "/nodes":
      return plain(cluster.nodes.total);
    case "/models":
      return cluster.models.belowDesired > 0
        ? { value: cluster.models.belowDesired, state: "s-failed", word: " below desired" }
        : plain(cluster.models.total);
    case "/replicas":
      return plain(cluster.replicas.total);
    case "/drains":
      return cluster.openDrains > 0 ? { value: cluster.openDrains, state: "s-draining", word: " running" } : null;
    case "/routers":
      return cluster.routers.silent > 0
        ? { value: cluster.routers.silent, state: "s-degraded", word: " silent" }
        : plain(cluster.routers.live);
    default:
      return null;
  }
}

function Item({ page }: { readonly page: Page }) {
  const pathname = usePathname();
  const { data } = useCluster();
  const count = countOf(page, data);
  const Icon = page.icon;
  return (
    <li className="contents">
      <Link
        className={`rail-item ${page.tab ? "is-tab" : ""}`}
        href={page.href}
        aria-current={isWithin(page, pathname) ? "page" : undefined}
      >
        <Icon className="ic" aria-hidden />
        <span>{page.name}</span>
        {count !== null && (
          <span className={`n ${count.state}`}>
            {count.value}
            {count.word !== "" && <span className="vh">{count.word}</span>}
          </span>
        )}
      </Link>
    </li>
  );
}

/** On a phone: the pages that have no tab. */
function More() {
  const router = useRouter();
  const pathname = usePathname();
  const pages = pageGroups.flat().filter((page) => !page.tab);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        className="rail-item is-more"
        aria-current={pages.some((page) => isWithin(page, pathname)) ? "page" : undefined}
      >
        <Menu className="ic" aria-hidden />
        <span>More</span>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={6}>
          {pages.map((page) => (
            <DropdownMenu.Item key={page.href} className="menu-i" onSelect={() => router.push(page.href)}>
              <page.icon className="ic" aria-hidden />
              {page.name}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function NavRail() {
  const { data: cluster } = useCluster();
  const { data: me } = useWhoAmI();
  return (
    <nav className="rail" aria-label="Main">
      <Link className="brand" href="/">
        <BrandMark />
        <span>llmgw</span>
      </Link>
      <div className="cluster" title={cluster === undefined ? undefined : `Cluster ${cluster.id}`}>
        <span className="min-w-0">
          <b className="truncate">{cluster?.id ?? "…"}</b>
          <small>
            {cluster === undefined
              ? "connecting"
              : `${counted(cluster.nodes.total, "node")} · ${counted(cluster.gpus.total, "GPU")}`}
          </small>
        </span>
      </div>
      <div className="rail-groups">
        {pageGroups.map((pages) => (
          <ul key={pages[0]?.href} className="rail-group">
            {pages.map((page) => (
              <Item key={page.href} page={page} />
            ))}
          </ul>
        ))}
        <More />
      </div>
      <div className="rail-foot">
        <div className="theme">
          <ThemeToggle />
          <span className="ver" title="Version of this admin">
            {cluster?.build.version}
          </span>
        </div>
        {me !== undefined && (
          <div className="rail-user">
            <span className="avatar" aria-hidden>
              {me.name.slice(0, 2).toUpperCase()}
            </span>
            <span className="min-w-0">
              <b className="truncate">{me.name}</b>
              <small>{me.role}</small>
            </span>
          </div>
        )}
      </div>
    </nav>
  );
}
