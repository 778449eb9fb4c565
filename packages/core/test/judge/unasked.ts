/** The two doors of the product: does a line run without a question, and how does it run then. */
import { throughRules } from "../../src/agent/permissions/admit-call.ts"
import type { PermissionPolicy } from "../../src/agent/permissions/permissions.ts"
import { bashTool } from "../../src/agent/tools/shell/bash.ts"
import { ShellSession } from "../../src/agent/tools/shell/shell-session.ts"
import { systemClock } from "../../src/base/clock.ts"
import { isReadOnly, questionOf } from "../../src/tools/defaults.ts"
import type { ToolContext } from "../../src/tools/tool.ts"
import type { World } from "./world.ts"

/** Under which rules and in which surroundings a line is tried. */
export interface Setting {
  readonly mode: "ask" | "plan"
  readonly deny: readonly string[]
  /** Absolute. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
}

export const DENIED = ["Read(.env)", "Read(secrets/**)", "Read(*.pem)"]

const TIMEOUT_MS = 1_000 // what waits for ever is ended, and has had no effect
const GRACE_MS = 100
const MAX_OUTPUT = 1_000_000

const session = new ShellSession({ timeoutMs: TIMEOUT_MS, graceMs: GRACE_MS, outputCharacters: MAX_OUTPUT })
const tool = bashTool(session)

export async function isUnasked(line: string, setting: Setting, world: World): Promise<boolean> {
  const context = contextOf(setting)
  const input = { command: line }
  const question = await questionOf(tool, input, context)
  const call = { type: "tool_use", id: "toolu_1", name: tool.name, input } as const
  const request = { call, tool, input, context, question, isReadOnly: isReadOnly(tool, input) }
  const { refused } = await throughRules({ request, notes: [], before: {} } as never, {
    signal: context.signal,
    policy: () => policyOf(setting, world),
    runHooks: async () => ({ messages: [], contexts: [] }) as never,
    notice: () => {},
  })
  return refused === undefined
}

/** Runs it as the agent does where no one was asked. Returns what it printed. */
export async function runUnasked(line: string, setting: Setting): Promise<string> {
  const { content } = (await tool.execute({ command: line }, contextOf(setting))) as { readonly content: unknown }
  return String(content)
}

const policyOf = ({ mode, deny }: Setting, { project, home }: World): PermissionPolicy => ({
  mode,
  deny,
  allow: [],
  ask: [],
  project,
  home,
  kept: [`${home}/.strata`],
})

function contextOf({ directory, env }: Setting): ToolContext {
  let at = directory
  return {
    signal: new AbortController().signal,
    toolUseId: "toolu_1",
    clock: systemClock,
    directory: {
      get: () => at,
      set: (path: string) => {
        at = path
      },
    },
    env,
    unasked: true,
    // the judge is tested, and not the sandbox below it
    confinement: () => ({ sandbox: "off", root: `${env.HOME}/.strata`, readable: [], waitMs: TIMEOUT_MS }),
    progress: () => {},
  } as unknown as ToolContext
}
