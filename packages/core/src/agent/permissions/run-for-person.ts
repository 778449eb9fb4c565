/** One tool call that the person asked for, outside of the conversation. It passes the same rules, hooks and questions as the model's calls. */
import { randomUUID } from "node:crypto"
import { resultBlocks, textOf } from "../../messages/blocks.ts"
import { runTools, type ToolRun } from "../loop/run-tools.ts"

export interface PersonCall {
  readonly tool: string
  readonly input: unknown
}

export type PersonCallEnd =
  | { readonly state: "ran"; readonly text: string; readonly isError: boolean }
  | { readonly state: "refused"; readonly why: string }

export async function runForPerson({ tool, input }: PersonCall, run: ToolRun): Promise<PersonCallEnd> {
  const call = { type: "tool_use" as const, id: `person_${randomUUID()}`, name: tool, input }
  const events = runTools([call], run)
  let refused: string | undefined
  for (;;) {
    const { value, done } = await events.next()
    if (done) {
      const [result] = value.results
      if (refused !== undefined) return { state: "refused", why: refused }
      return { state: "ran", text: result ? textOf(resultBlocks(result)) : "", isError: result?.is_error === true }
    }
    if (value.type === "tool-denied") refused = value.why
  }
}
