/** The commands of `strata`, in the order of the help. */
import type { Command } from "./command.ts"
import {
  AGENTS,
  CARRY,
  CHAT,
  COMPACT,
  COMPARE,
  CONFIG,
  DEMO,
  DREAM,
  INSPECT,
  MEMORY,
  RECALL,
  REPLAY,
  RUN,
  SIM,
  TRUST,
  UNDO,
  UNLOCK,
} from "./descriptions.ts"

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
  { ...COMPACT, load: () => import("./compact/command.ts") },
  { ...UNDO, load: () => import("./undo/command.ts") },
  { ...INSPECT, load: () => import("./inspect/command.ts") },
  { ...REPLAY, load: () => import("./replay/command.ts") },
  { ...COMPARE, load: () => import("./compare/command.ts") },
  { ...RECALL, load: () => import("./recall/command.ts") },
  { ...AGENTS, load: () => import("./agents/command.ts") },
  { ...MEMORY, load: () => import("./memory/command.ts") },
  { ...DREAM, load: () => import("./dream/command.ts") },
  { ...CONFIG, load: () => import("./config/command.ts") },
  { ...TRUST, load: () => import("./trust/command.ts") },
  { ...UNLOCK, load: () => import("./unlock/command.ts") },
  { ...CARRY, load: () => import("./carry/command.ts") },
  { ...SIM, forwards: true, load: () => import("./sim.ts") },
]
