import {
  ArrowDownToLine,
  Boxes,
  Layers,
  LayoutDashboard,
  type LucideIcon,
  Route,
  ScanSearch,
  ScrollText,
  Server,
} from "lucide-react";

export interface Page {
  readonly href: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** In the tab bar of a phone; the others are under More. */
  readonly tab: boolean;
}

/** The rail, in groups: what there is, where it goes, who sends and who did what. */
export const pageGroups: readonly (readonly Page[])[] = [
  [
    { href: "/", name: "Overview", icon: LayoutDashboard, tab: true },
    { href: "/nodes", name: "Nodes", icon: Server, tab: true },
    { href: "/models", name: "Models", icon: Boxes, tab: true },
    { href: "/replicas", name: "Replicas", icon: Layers, tab: false },
  ],
  [
    { href: "/placement", name: "Placement", icon: ScanSearch, tab: false },
    { href: "/drains", name: "Drains", icon: ArrowDownToLine, tab: true },
  ],
  [
    { href: "/routers", name: "Routers", icon: Route, tab: false },
    { href: "/audit", name: "Audit", icon: ScrollText, tab: false },
  ],
];

export function isWithin(page: Page, pathname: string): boolean {
  return page.href === "/" ? pathname === "/" : pathname === page.href || pathname.startsWith(`${page.href}/`);
}
