/**
 * A command that the person runs beside the agent: in its working directory and with the environment of Bash, so without secrets. The
 * person is the authority, so no rule is asked.
 */

import { randomUUID } from "node:crypto"
import { StrataError } from "../../base/errors.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { resultBlocks, textOf } from "../../messages/blocks.ts"
import { executed } from "../../tools/defaults.ts"
import type { SharedToolContext, Tool } from "../../tools/tool.ts"
import { runTools, type ToolRun } from "../loop/run-tools.ts"
import { MAX_TIMEOUT_MS } from "../tools/shell/shell-session.ts"

export interface UserCommand {
  readonly command: string
  readonly signal: AbortSignal
  /** The newest line of the output, a few times a second. */
  readonly progress: (line: string) => void
}

export interface ShellParts {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
}

export type UserCommandEnd = Extract<Attachment, { type: "person_command" }>

export async function runUserCommand(
  { command, signal, progress }: UserCommand,
  { tools, context }: ShellParts,
): Promise<UserCommandEnd> {
  const bash = tools.find(({ name }) => name === "Bash")
  if (!bash) throw new StrataError("The command was not run: this agent has no shell.")
  let place = context.directory.get()
  const { confinement: _, ...shared } = context // the person's own commands run outside of the sandbox
  const { content } = await executed(
    bash,
    { command, timeout: MAX_TIMEOUT_MS },
    {
      ...shared,
      ...{ signal, progress },
      directory: {
        get: () => place,
        set: (path) => {
          place = path // a `cd` of the person does not move the agent
        },
      },
      toolUseId: `person_${context.clock.now().getTime()}`, // names the file that keeps a long output
      putsAside: () => false, // nothing shortens an attachment later
    },
  )
  return { type: "person_command", command, content: typeof content === "string" ? content : textOf(content) }
}

/** One tool call that the person asked for, outside of the conversation. It passes the same rules, hooks and questions as the model's calls. */
export interface UserCall {
  readonly tool: string
  readonly input: unknown
}

export type UserCallEnd =
  | {
      readonly state: "ran"
      readonly text: string
      readonly isError: boolean
      /** What the tool adds to the conversation, a skill for example. */
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
