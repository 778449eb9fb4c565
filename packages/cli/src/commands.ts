/** The commands of `strata`, in the order in which help lists them. Each is loaded when it is asked for. */
import type { Command } from "./command.ts"
import { CHAT, CONFIG, DEMO, INSPECT, RUN, SIM } from "./descriptions.ts"

export const COMMANDS: readonly Command[] = [
  { ...DEMO, load: () => import("./demo/command.ts") },
  { ...CHAT, forwards: true, load: () => import("./chat/command.ts") },
  { ...RUN, forwards: true, load: () => import("./run/command.ts") },
  { ...INSPECT, load: () => import("./inspect/command.ts") },
  { ...CONFIG, load: () => import("./config/command.ts") },
  { ...SIM, forwards: true, load: () => import("./sim.ts") },
]
