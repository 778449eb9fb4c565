/** CallTool: calls a tool that is not declared, by name. The call is one of that tool: its schema, its permissions, its hooks. */
import { z } from "zod/v4"
import { promptText } from "../../base/prompt-file.ts"
import type { ForwardedCall, Tool } from "../tool.ts"
import { CALL_TOOL, SEARCH_TOOL } from "./deferrable.ts"

const inputSchema = z.object({
  name: z.string().describe("The full name of the tool."),
  input: z.union([z.record(z.string(), z.unknown()), z.string()]).describe("The input of the tool, as an object."),
})

/** `names`: of the tools that it may call. */
export function callTool(names: ReadonlySet<string>): Tool<z.infer<typeof inputSchema>> {
  return {
    name: CALL_TOOL,
    description: promptText(new URL("./call-tool.md", import.meta.url)).trim(),
    inputSchema,
    forwards: ({ name, input }) => forwarded(name, input, names),
    execute() {
      throw new Error(`${CALL_TOOL} was not run: nothing forwards its calls here.`)
    },
  }
}

function forwarded(name: string, input: unknown, names: ReadonlySet<string>): ForwardedCall {
  const shown = JSON.stringify(name.slice(0, 128))
  if (!names.has(name))
    return {
      state: "refused",
      why: `${CALL_TOOL} cannot call ${shown}. Call a declared tool directly; find others with ${SEARCH_TOOL}.`,
    }
  if (typeof input !== "string") return { state: "forwarded", name, input }
  try {
    return { state: "forwarded", name, input: JSON.parse(input) } // models sometimes write the object as a text
  } catch {
    return { state: "refused", why: `The input for ${shown} is a text that is not JSON. Pass an object.` }
  }
}
