/** BashOutput and KillShell: read the output of background commands and end them. */
import * as z from "zod/v4"
import type { Tool, ToolOutput } from "../../../tools/tool.ts"
import { headingOf } from "./bash.ts"
import { type RunningShell, SHORT_OUTPUT_CHARACTERS, type ShellSession } from "./shell-session.ts"

const inputSchema = z.object({ id: z.string().describe("The id that Bash returned, such as shell_3.") })
type ShellId = z.infer<typeof inputSchema>

export function bashOutputTool(session: ShellSession): Tool<ShellId> {
  return {
    name: "BashOutput",
    description:
      "Returns what a background command has printed since the last call, and whether it still runs. It returns at once, so do something else before you call it again.",
    inputSchema,
    shortResult: SHORT_OUTPUT_CHARACTERS,
    readOnly: true,
    question: ({ id }) => ({ kind: "read", summary: `read the output of ${id}`, subject: id }),
    async execute({ id }) {
      const shell = session.find(id)
      if (!shell) return unknownShell(session, id)
      const state = await stateOf(shell)
      const { text } = shell.output.take()
      return { content: `${state}\n${text.trimEnd() || "(no new output)"}` }
    },
  }
}

export function killShellTool(session: ShellSession): Tool<ShellId> {
  return {
    name: "KillShell",
    description:
      "Ends a background command and everything it started. What it printed can still be read with BashOutput.",
    inputSchema,
    limitsItself: true,
    question: ({ id }) => ({
      kind: "execute",
      summary: `end ${id}: ${session.find(id)?.command ?? "unknown"}`,
      subject: id,
    }),
    async execute({ id }) {
      const shell = session.find(id)
      if (!shell) return unknownShell(session, id)
      const end = await shell.process.stop("killed")
      return {
        content: end.state === "stopped" ? `${id} was ended.` : `${id} had ended before: ${await stateOf(shell)}`,
      }
    },
  }
}

const RUNNING = Symbol("still running")

async function stateOf({ process }: RunningShell): Promise<string> {
  const end = await Promise.race([process.ended, Promise.resolve(RUNNING)])
  return typeof end === "symbol" ? "Still running." : (headingOf(end) ?? "Exit code 0")
}

function unknownShell(session: ShellSession, id: string): ToolOutput {
  const ids = session.ids()
  const known = ids.length > 0 ? `There are: ${ids.join(", ")}.` : "None has been started."
  return { content: `There is no background command ${id}. ${known}`, isError: true }
}
