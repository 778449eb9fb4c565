/** Classifies an item of OpenAI's Responses API by its role in a conversation. */

import type { Block } from "@strata/core"
import type { Attachment } from "@strata/core/messages"
import { blocksFromOpenAi, thinkingBlock, toolResult, toolUse } from "../external-blocks.ts"
import { getObject, getString, getStrings, type JsonObject } from "../json-access.ts"

export type Item =
  /** An input item for the model. */
  | { readonly part: "message"; readonly role: string; readonly blocks: readonly Block[] }
  /** An output item of the model. */
  | { readonly part: "response"; readonly blocks: readonly Block[] }
  | { readonly part: "result"; readonly blocks: readonly Block[] }
  | { readonly part: "attachment"; readonly attachment: Attachment }
  | { readonly part: "nothing"; readonly why: string }
  | { readonly part: "unknown" }

const UNKNOWN: Item = { part: "unknown" }

/** `key` becomes the id of a call without one. */
export function itemFrom(payload: JsonObject, key: string): Item {
  const id = getString(payload, "call_id") ?? getString(payload, "id") ?? key
  switch (getString(payload, "type")) {
    case "message":
      return message(payload)
    case "reasoning":
      return reasoning(payload)
    case "function_call":
      return call({
        id,
        name: `${getString(payload, "namespace") ?? ""}${getString(payload, "name") ?? ""}`,
        input: getString(payload, "arguments"),
      })
    case "custom_tool_call":
      return call({ id, name: getString(payload, "name"), input: getString(payload, "input") })
    case "tool_search_call":
      return call({ id, name: "tool_search", input: getObject(payload, "arguments") })
    case "local_shell_call":
      return call({ id, name: "local_shell", input: getObject(payload, "action") })
    case "function_call_output":
    case "custom_tool_call_output":
      return output(id, payload.output)
    case "tool_search_output":
      return { part: "result", blocks: [toolResult(id, JSON.stringify(payload.tools ?? []))] }
    case "web_search_call":
      return webSearch(payload)
    case "ghost_snapshot":
      return { part: "nothing", why: "a snapshot of the files is not part of the conversation" }
    case "compaction":
    case "compaction_summary":
      return { part: "nothing", why: "encrypted" }
    default:
      return UNKNOWN
  }
}

function message(payload: JsonObject): Item {
  const role = getString(payload, "role")
  const blocks = blocksFromOpenAi(payload.content)
  if (role === undefined || blocks === undefined) return UNKNOWN
  return role === "assistant" ? { part: "response", blocks } : { part: "message", role, blocks }
}

function reasoning(payload: JsonObject): Item {
  const texts = [payload.summary, payload.content].flatMap((parts) => blocksFromOpenAi(parts ?? []) ?? [])
  const readable = texts.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n\n")
  if (readable === "") return { part: "nothing", why: "encrypted or without a summary, so it cannot be read" }
  return { part: "response", blocks: [thinkingBlock(readable)] }
}

function call({
  id,
  name,
  input,
}: {
  id: string
  name: string | undefined
  input: string | JsonObject | undefined
}): Item {
  return name && input !== undefined ? { part: "response", blocks: [toolUse({ id, name, input })] } : UNKNOWN
}

function output(id: string, value: unknown): Item {
  // older versions wrap the output together with a success flag
  const wrapped = getObject({ value }, "value")
  const content = wrapped ? wrapped.content : value
  if (typeof content === "string")
    return { part: "result", blocks: [toolResult(id, content, wrapped?.success === false)] }
  const blocks = blocksFromOpenAi(content)
  return blocks ? { part: "result", blocks: [toolResult(id, blocks)] } : UNKNOWN
}

/** Imports a web search as an attachment: the server ran it and its results are not recorded, so there is no pair of call and result. */
function webSearch(payload: JsonObject): Item {
  const action = getObject(payload, "action")
  const target = getString(action, "query") ?? getString(action, "url") ?? getStrings(action, "queries").join("; ")
  const text = `A web search was made: ${target}\nIts results are not part of the record.`
  return { part: "attachment", attachment: { type: "foreign", kind: "web_search_call", data: payload, text } }
}
