/** The program with all commands. Each loads on demand. */

import type { Command } from "./command.ts"
import { commandLine } from "./command-line.ts"
import {
  AGENTS,
  ARCHIVE,
  CHAT,
  COMPACT,
  COMPACT_MESSAGES,
  COMPARE,
  CONFIG,
  DASHBOARD,
  DEMO,
  DREAM,
  EXPORT,
  IMPORT,
  INSPECT,
  INSTALL,
  MCP,
  MEMORY,
  RECALL,
  REPLAY,
  RUN,
  SIM,
  TRUST,
  UNDO,
  UNINSTALL,
  UNLOCK,
  USAGE,
} from "./descriptions.ts"
import { registerNamedStore } from "./named-store.ts"
import { DOCTOR, PROXY, WRAP } from "./proxy/descriptions.ts"
import { startWith } from "./start.ts"
import { MOVE, STORE, SYNC } from "./store/descriptions.ts"

// The commands of `strata`, in the order of the help.

export const COMMANDS: readonly Command[] = [
  { ...DEMO, load: () => import("./demo/command.ts") },
  {
    ...CHAT,
    load: () => import("./chat/command.ts"),
    describe: async () => (await import("./chat/command.ts")).description,
  },
  {
    ...RUN,
    load: () => import("./run/command.ts"),
    describe: async () => (await import("./run/command.ts")).description,
  },
  { ...AGENTS, load: () => import("./agents/command.ts") },
  { ...COMPACT, load: () => import("./compact/command.ts") },
  { ...UNDO, load: () => import("./undo/command.ts") },
  { ...INSPECT, load: () => import("./inspect/command.ts") },
  { ...USAGE, load: () => import("./usage/command.ts") },
  { ...DASHBOARD, load: () => import("./dashboard/command.ts") },
  { ...REPLAY, load: () => import("./replay/command.ts") },
  { ...COMPARE, load: () => import("./compare/command.ts") },
  { ...RECALL, load: () => import("./recall/command.ts") },
  { ...MEMORY, load: () => import("./memory/command.ts") },
  { ...DREAM, load: () => import("./dream/command.ts") },
  { ...SYNC, load: () => import("./sync/command.ts") },
  { ...WRAP, forwards: true, load: () => import("./wrap/command.ts") },
  { ...PROXY, load: () => import("./proxy/command.ts") },
  { ...DOCTOR, load: () => import("./doctor/command.ts") },
  { ...INSTALL, load: () => import("./install/command.ts") },
  { ...UNINSTALL, load: () => import("./install/uninstall.ts") },
  { ...MCP, load: () => import("./mcp/command.ts") },
  { ...COMPACT_MESSAGES, load: () => import("./compact-messages/command.ts") },
  { ...SIM, forwards: true, load: () => import("./sim.ts") },
  { ...IMPORT, load: () => import("./import/command.ts") },
  { ...EXPORT, load: () => import("./export/command.ts") },
  { ...ARCHIVE, load: () => import("./archive/command.ts") },
  { ...MOVE, load: () => import("./move/command.ts") },
  { ...STORE, load: () => import("./store/command.ts") },
  { ...UNLOCK, load: () => import("./unlock/command.ts") },
  { ...CONFIG, load: () => import("./config/command.ts") },
  { ...TRUST, load: () => import("./trust/command.ts") },
]

export const strata = commandLine(COMMANDS, registerNamedStore)

export const start = (args: readonly string[]): Promise<void> => startWith(strata, args)
