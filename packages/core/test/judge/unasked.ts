/** The two entry points under test: whether a line runs without permission, and how it is run. */
import { applyRules } from "../../src/agent/permissions/authorize-call.ts"
import type { PermissionPolicy } from "../../src/agent/permissions/permissions.ts"
import { bashTool } from "../../src/agent/tools/shell/bash.ts"
import { ShellSession } from "../../src/agent/tools/shell/shell-session.ts"
import { systemClock } from "../../src/base/clock.ts"
import { isReadOnly, questionOf } from "../../src/tools/defaults.ts"
import type { ToolContext } from "../../src/tools/tool.ts"
import type { World } from "./world.ts"

/** The rules and the environment in which a line is tried. */
export interface TrialSetting {
  readonly mode: "ask" | "plan"
  readonly deny: readonly string[]
  /** An absolute path. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
}

export const DENIED = ["Read(.env)", "Read(secrets/**)", "Read(*.pem)"]

const TIMEOUT_MS = 1_000 // a line that never ends is killed, and has had no effect
const GRACE_MS = 100
const MAX_OUTPUT = 1_000_000

const session = new ShellSession({ timeoutMs: TIMEOUT_MS, graceMs: GRACE_MS, outputCharacters: MAX_OUTPUT })
const tool = bashTool(session)

export async function isUnasked(line: string, setting: TrialSetting, world: World): Promise<boolean> {
  const context = contextOf(setting)
  const input = { command: line }
  const question = await questionOf(tool, input, context)
  const call = { type: "tool_use", id: "toolu_1", name: tool.name, input } as const
  const request = { call, tool, input, context, question, isReadOnly: isReadOnly(tool, input) }
  const { refused } = await applyRules({ request, notes: [], before: {} } as never, {
    signal: context.signal,
    policy: () => policyOf(setting, world),
    runHooks: async () => ({ messages: [], contexts: [] }) as never,
    notice: () => {},
  })
  return refused === undefined
}

/** Runs a line as the agent does without a prompt. Returns its output. */
export async function runUnasked(line: string, setting: TrialSetting): Promise<string> {
  const { content } = (await tool.execute({ command: line }, contextOf(setting))) as { readonly content: unknown }
  return String(content)
}

const policyOf = ({ mode, deny }: TrialSetting, { project, home }: World): PermissionPolicy => ({
  mode,
  deny,
  allow: [],
  ask: [],
  project,
  home,
  protectedDirectories: [`${home}/.strata`],
})

function contextOf({ directory, env }: TrialSetting): ToolContext {
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
    // tests the command analyzer, not the sandbox below it
    confinement: () => ({ sandbox: "off", root: `${env.HOME}/.strata`, readable: [], waitMs: TIMEOUT_MS }),
    progress: () => {},
  } as unknown as ToolContext
}
