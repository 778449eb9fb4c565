/** Classifies an item of OpenAI's Responses API by its role in a conversation. */

import type { Block } from "@strata/core"
import type { Attachment } from "@strata/core/messages"
import { blocksFromOpenAi, thinkingBlock, toolResult, toolUse } from "../foreign-blocks.ts"
import { type Fields, fieldsAt, textAt, textsAt } from "../foreign-json.ts"

export type Item =
  /** Sent to the model. */
  | { readonly part: "message"; readonly role: string; readonly blocks: readonly Block[] }
  /** Produced by the model. */
  | { readonly part: "response"; readonly blocks: readonly Block[] }
  | { readonly part: "result"; readonly blocks: readonly Block[] }
  | { readonly part: "attachment"; readonly attachment: Attachment }
  | { readonly part: "nothing"; readonly why: string }
  | { readonly part: "unknown" }

const UNKNOWN: Item = { part: "unknown" }

/** `key` is used as the id of a call that has none. */
export function itemFrom(payload: Fields, key: string): Item {
  const id = textAt(payload, "call_id") ?? textAt(payload, "id") ?? key
  switch (textAt(payload, "type")) {
    case "message":
      return message(payload)
    case "reasoning":
      return reasoning(payload)
    case "function_call":
      return call({
        id,
        name: `${textAt(payload, "namespace") ?? ""}${textAt(payload, "name") ?? ""}`,
        input: textAt(payload, "arguments"),
      })
    case "custom_tool_call":
      return call({ id, name: textAt(payload, "name"), input: textAt(payload, "input") })
    case "tool_search_call":
      return call({ id, name: "tool_search", input: fieldsAt(payload, "arguments") })
    case "local_shell_call":
      return call({ id, name: "local_shell", input: fieldsAt(payload, "action") })
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

function message(payload: Fields): Item {
  const role = textAt(payload, "role")
  const blocks = blocksFromOpenAi(payload.content)
  if (role === undefined || blocks === undefined) return UNKNOWN
  return role === "assistant" ? { part: "response", blocks } : { part: "message", role, blocks }
}

function reasoning(payload: Fields): Item {
  const texts = [payload.summary, payload.content].flatMap((parts) => blocksFromOpenAi(parts ?? []) ?? [])
  const readable = texts.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n\n")
  if (readable === "") return { part: "nothing", why: "encrypted or without a summary, so it cannot be read" }
  return { part: "response", blocks: [thinkingBlock(readable)] }
}

function call({ id, name, input }: { id: string; name: string | undefined; input: string | Fields | undefined }): Item {
  return name && input !== undefined ? { part: "response", blocks: [toolUse({ id, name, input })] } : UNKNOWN
}

function output(id: string, value: unknown): Item {
  // older versions wrap it together with a flag for success
  const wrapped = fieldsAt({ value }, "value")
  const content = wrapped ? wrapped.content : value
  if (typeof content === "string")
    return { part: "result", blocks: [toolResult(id, content, wrapped?.success === false)] }
  const blocks = blocksFromOpenAi(content)
  return blocks ? { part: "result", blocks: [toolResult(id, blocks)] } : UNKNOWN
}

/** The server did the search itself and the results are not recorded, so there is no pair of call and result. */
function webSearch(payload: Fields): Item {
  const action = fieldsAt(payload, "action")
  const target = textAt(action, "query") ?? textAt(action, "url") ?? textsAt(action, "queries").join("; ")
  const text = `A web search was made: ${target}\nIts results are not part of the record.`
  return { part: "attachment", attachment: { type: "foreign", kind: "web_search_call", data: payload, text } }
}
