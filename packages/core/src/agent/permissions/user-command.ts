/**
 * A shell command that the user runs, in the agent's working directory and with the environment of Bash, which has no secrets. No rules
 * apply, because the user runs it directly.
 */

import { randomUUID } from "node:crypto"
import { StrataError } from "../../base/errors.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { resultBlocks, textOf } from "../../messages/blocks.ts"
import { executeTool } from "../../tools/defaults.ts"
import type { SharedToolContext, Tool } from "../../tools/tool.ts"
import { runTools, type ToolRun } from "../loop/run-tools.ts"
import { MAX_TIMEOUT_MS } from "../tools/shell/shell-session.ts"

export interface UserCommand {
  readonly command: string
  readonly signal: AbortSignal
  /** Called with the newest line of output, a few times a second. */
  readonly progress: (line: string) => void
}

export interface ShellDependencies {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
}

export type UserCommandEnd = Extract<Attachment, { type: "person_command" }>

export async function runUserCommand(
  { command, signal, progress }: UserCommand,
  { tools, context }: ShellDependencies,
): Promise<UserCommandEnd> {
  const bash = tools.find(({ name }) => name === "Bash")
  if (!bash) throw new StrataError("The command was not run: this agent has no shell.")
  let place = context.directory.get()
  const { confinement: _, ...shared } = context // the user's commands run outside the sandbox
  const { content } = await executeTool(
    bash,
    { command, timeout: MAX_TIMEOUT_MS },
    {
      ...shared,
      ...{ signal, progress },
      directory: {
        get: () => place,
        set: (path) => {
          place = path // a `cd` of the user does not change the agent's directory
        },
      },
      toolUseId: `person_${context.clock.now().getTime()}`, // name of the file for long output
      offloadsResults: () => false, // attachments are not offloaded
    },
  )
  return { type: "person_command", command, content: typeof content === "string" ? content : textOf(content) }
}

/** A tool call that the user requested, outside the conversation. The same rules, hooks and questions apply as to the model's calls. */
export interface UserCall {
  readonly tool: string
  readonly input: unknown
}

export type UserCallEnd =
  | {
      readonly state: "ran"
      readonly text: string
      readonly isError: boolean
      /** Attachments of the tool, such as a skill. */
      readonly attachments: readonly Attachment[]
    }
  | { readonly state: "refused"; readonly why: string }

export async function runForUser({ tool, input }: UserCall, run: ToolRun): Promise<UserCallEnd> {
  const call = { type: "tool_use" as const, id: `person_${randomUUID()}`, name: tool, input }
  const events = runTools([call], run)
  let refused: string | undefined
  for (;;) {
    const { value, done } = await events.next()
    if (done) {
      const [result] = value.results
      if (refused !== undefined) return { state: "refused", why: refused }
      const text = result ? textOf(resultBlocks(result)) : ""
      return { state: "ran", text, isError: result?.is_error === true, attachments: value.attachments }
    }
    if (value.type === "tool-denied") refused = value.why
  }
}
