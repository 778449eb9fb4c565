/** Rules for messages, one for each reason for which the API rejects them. */
import {
  ASSISTANT_BLOCKS,
  findToolReferences,
  isServerResult,
  isWellFormedCall,
  SYSTEM_BLOCKS,
  toWellFormed,
  USER_BLOCKS,
} from "../blocks.ts"
import {
  describeFlaw,
  type Flaw,
  fields,
  findFlaw,
  isKnownType,
  isRecord,
  listOf,
  text,
  textOr,
  wrong,
} from "../shapes/shapes.ts"
import { isAsReceived } from "../usable.ts"
import { SYSTEM_MESSAGE, toCheckedMessage } from "./request-rules.ts"
import type { CheckedBlock, CheckedMessage, MessageRule, MessageSubject, Violation } from "./rule.ts"

type RuleViolation = Omit<Violation, "rule">

const SERVER_USE = /^(?:server|mcp)_tool_use$/
const SERVER_RESULT = /^.+_tool_result$/
const THINKING = /^(?:redacted_)?thinking$/

/** A violation for each block for which `wrong` returns a message. */
function atBlocks(
  subject: MessageSubject,
  wrong: (block: CheckedBlock, at: number) => string | undefined,
): RuleViolation[] {
  const violations: RuleViolation[] = []
  for (const [at, block] of subject.message.content.entries()) {
    const message = wrong(block, at)
    if (message !== undefined) violations.push({ path: `${subject.path}.content.${at}`, message })
  }
  return violations
}

const toolUses = (message: CheckedMessage | undefined): CheckedBlock[] =>
  message?.role === "assistant" ? message.content.filter((block) => block.type === "tool_use") : []

const toolResults = (message: CheckedMessage): CheckedBlock[] =>
  message.role === "user" ? message.content.filter((block) => block.type === "tool_result") : []

const endsInServerTool = (message: CheckedMessage): boolean => {
  const last = message.content.at(-1)?.type ?? ""
  return SERVER_USE.test(last) || isServerResult(last)
}

const isDeclared = ({ tools }: MessageSubject["request"], name: string): boolean =>
  Array.isArray(tools) && tools.some((tool) => isRecord(tool) && "name" in tool && tool.name === name)

const BLOCKS_OF: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["assistant", ASSISTANT_BLOCKS],
  ["system", SYSTEM_BLOCKS],
])

const MESSAGE = fields({ role: text(), content: textOr(listOf(() => undefined, "a text or a list of blocks")) })

/** The flaw of a block. Separate rules check the name, the id and the type of the input of a call. */
function shapeFlaw(block: CheckedBlock): Flaw | undefined {
  if (isAsReceived(block as never)) return undefined
  if (block.type !== "tool_use") return findFlaw(block)
  return findFlaw({ ...block, id: "id", name: "name", input: isRecord(block.input) ? block.input : {} })
}

/** Whether a system message changes settings without any text. */
const isSettingsOnly = ({ role, raw }: CheckedMessage): boolean =>
  role === "system" && isRecord(raw) && "output_config" in raw

/**
 * The type of the first block of the turn that started the current round of tool calls, if it is not thinking. With a thinking budget
 * it must be.
 */
function findStartWithoutThinking({ request }: MessageSubject): string | undefined {
  const messages = request.messages.map(toCheckedMessage)
  const spoken = messages.findLastIndex(
    ({ role, content }) => role === "user" && content.some(({ type }) => type !== "tool_result"),
  )
  const opening = messages.slice(spoken + 1).find(({ role }) => role === "assistant")
  if (opening === undefined) return undefined
  const first = opening.content[0]?.type ?? ""
  return THINKING.test(first) ? undefined : first
}

export const MESSAGE_RULES: readonly MessageRule[] = [
  {
    name: "known-roles",
    check: ({ message, path }) =>
      ["user", "assistant", "system"].includes(message.role)
        ? []
        : [{ path, message: `there is no role "${message.role}"` }],
  },
  {
    name: "message-shape",
    check: ({ message: { role, raw }, path }) => {
      const flaw = role === "system" ? SYSTEM_MESSAGE(raw) : MESSAGE(raw)
      return flaw ? [{ path, message: `the message ${describeFlaw(flaw)}` }] : []
    },
  },
  {
    name: "first-message-user",
    check: ({ message, index, path }) => {
      const mayBegin = message.role === "user" || message.content[0]?.type === "compaction"
      return index > 0 || mayBegin ? [] : [{ path, message: 'the first message must use the "user" role' }]
    },
  },
  {
    name: "content-not-empty",
    check: ({ message, isLast, path }) =>
      message.content.length > 0 || (isLast && message.role === "assistant") || isSettingsOnly(message)
        ? []
        : [{ path, message: "a message must have content" }],
  },
  {
    name: "text-not-empty",
    check: (subject) =>
      atBlocks(subject, (block) =>
        block.type === "text" && String(block.text ?? "").trim() === "" && !isAsReceived(block as never)
          ? "a text must contain more than white space"
          : undefined,
      ),
  },
  {
    name: "known-block-types",
    check: (subject) => {
      const known = BLOCKS_OF.get(subject.message.role) ?? USER_BLOCKS
      const editsCache = subject.message.role === "user" && subject.model.accepts.cacheEditing
      return atBlocks(subject, (block) => {
        const { type } = block
        const isServers = isServerResult(type) && isKnownType(type)
        const fits =
          known.has(type) ||
          isAsReceived(block as never) ||
          (editsCache && type === "cache_edits") ||
          (subject.message.role === "assistant" && (isServers || type === "document")) // a separate rule checks documents
        return fits ? undefined : `a block of type "${type}" is not allowed in a message of the ${subject.message.role}`
      })
    },
  },
  {
    name: "block-shapes",
    check: ({ message, path }) =>
      message.content.flatMap((block, at) => {
        const flaw = block.type === "" ? wrong("an object with a type") : shapeFlaw(block)
        return flaw ? [{ path: `${path}.content.${at}`, message: `it ${describeFlaw(flaw)}` }] : []
      }),
  },
  {
    name: "whole-characters",
    check: (subject) =>
      atBlocks(subject, (block) =>
        toWellFormed(block) === block ? undefined : "a text ends or begins in the middle of a character",
      ),
  },
  {
    name: "tool-use-answered",
    check: ({ message, previous, isLast, index, path }) => {
      const answered = new Set(toolResults(message).map((block) => block.tool_use_id))
      const missing = (uses: readonly CheckedBlock[]) =>
        uses.filter((use) => !answered.has(use.id)).map((use) => use.id)
      const open = missing(toolUses(previous))
      const trailing = isLast ? toolUses(message).map((use) => use.id) : []
      return [
        ...(open.length > 0
          ? [{ path: `messages.${index - 1}`, message: `no result follows for the calls ${open.join(", ")}` }]
          : []),
        ...(trailing.length > 0 ? [{ path, message: `no result follows for the calls ${trailing.join(", ")}` }] : []),
      ]
    },
  },
  {
    name: "results-first",
    check: (subject) => {
      const firstOther = subject.message.content.findIndex((block) => block.type !== "tool_result")
      return atBlocks(subject, (block, at) =>
        block.type === "tool_result" && firstOther >= 0 && at > firstOther
          ? "results must come before everything else"
          : undefined,
      )
    },
  },
  {
    name: "tool-result-expected",
    check: (subject) => {
      const called = new Set(toolUses(subject.previous).map((use) => use.id))
      return atBlocks(subject, (block) =>
        block.type === "tool_result" && !called.has(block.tool_use_id)
          ? `no call ${block.tool_use_id} in the message before`
          : undefined,
      )
    },
  },
  {
    name: "single-result",
    check: (subject) => {
      const seen = new Set<unknown>()
      return atBlocks(subject, (block) => {
        if (block.type !== "tool_result") return undefined
        const again = seen.has(block.tool_use_id)
        seen.add(block.tool_use_id)
        return again ? `a second result for the call ${block.tool_use_id}` : undefined
      })
    },
  },
  {
    name: "tool-references-supported",
    check: (subject) =>
      atBlocks(subject, (block) =>
        findToolReferences(block).length > 0 && !subject.model.accepts.toolReferences
          ? `${subject.model.id} does not accept references to tools`
          : undefined,
      ),
  },
  {
    name: "tool-references-resolve",
    check: (subject) =>
      atBlocks(subject, (block) => {
        const missing = findToolReferences(block).find((name) => !isDeclared(subject.request, name))
        return missing === undefined ? undefined : `it refers to the tool ${missing}, which the request does not have`
      }),
  },
  {
    name: "tool-references-alone",
    check: (subject) =>
      atBlocks(subject, (block) => {
        const count = findToolReferences(block).length
        return count > 0 && count < (block.content as readonly unknown[]).length
          ? "references to tools cannot be mixed with other content"
          : undefined
      }),
  },
  {
    name: "well-formed-tool-use",
    check: (subject) =>
      atBlocks(subject, (block) =>
        block.type === "tool_use" && !isWellFormedCall({ id: block.id, name: block.name, input: block.input })
          ? "a call needs a name and an id of letters, digits, - and _, and an object as its input"
          : undefined,
      ),
  },
  {
    name: "unique-tool-use-ids",
    check: (subject) => {
      const here = new Set<unknown>()
      return atBlocks(subject, (block) => {
        if (block.type !== "tool_use") return undefined
        const again = here.has(block.id) || subject.isUsedId(String(block.id))
        here.add(block.id)
        return again ? `the id ${block.id} was used before` : undefined
      })
    },
  },
  {
    name: "server-tool-answered",
    check: (subject) => {
      const answered = new Set(
        subject.message.content.filter((b) => SERVER_RESULT.test(b.type)).map((b) => b.tool_use_id),
      )
      const { content } = subject.message
      const end = content.findLastIndex(({ type }) => !SERVER_USE.test(type) && !SERVER_RESULT.test(type)) + 1
      const paused = subject.isLast && endsInServerTool(subject.message)
      return atBlocks(subject, (block, at) =>
        SERVER_USE.test(block.type) && !answered.has(block.id) && !(paused && at >= end)
          ? `the server call ${block.id} has no result`
          : undefined,
      )
    },
  },
  {
    name: "server-result-expected",
    check: (subject) => {
      const called = new Set<unknown>()
      return atBlocks(subject, (block) => {
        if (SERVER_USE.test(block.type)) called.add(block.id)
        const isResult = isServerResult(block.type)
        return isResult && !called.has(block.tool_use_id) ? `no server call ${block.tool_use_id} before it` : undefined
      })
    },
  },
  {
    name: "thinking-starts-turn",
    check: (subject) => {
      const { message, isLast, path, request } = subject
      if (request.thinking?.type !== "enabled" || !isLast || message.role !== "user") return []
      const first = findStartWithoutThinking(subject)
      return first === undefined
        ? []
        : [{ path, message: `the turn before must begin with thinking, but begins with ${first}` }]
    },
  },
  {
    name: "no-prefill",
    check: ({ message, isLast, path, model }) =>
      isLast && message.role === "assistant" && !model.accepts.prefill && !endsInServerTool(message)
        ? [{ path, message: `${model.id} cannot continue an assistant message: the last message must be the user's` }]
        : [],
  },
  {
    name: "no-space-after-prefill",
    check: ({ message, isLast, path }) => {
      const last = message.content.at(-1)
      const isOpen = isLast && message.role === "assistant" && typeof last?.text === "string" && last.text.trim() !== ""
      return isOpen && /\s$/.test(last.text as string)
        ? [{ path, message: "the text to continue ends in white space" }]
        : []
    },
  },
  {
    name: "no-document-in-assistant",
    check: (subject) =>
      atBlocks(subject, (block) =>
        subject.message.role === "assistant" && block.type === "document"
          ? "a document is not allowed in an assistant message"
          : undefined,
      ),
  },
  {
    name: "no-citations-in-user-text",
    check: (subject) =>
      atBlocks(subject, ({ type, citations }) =>
        subject.message.role === "user" && type === "text" && Array.isArray(citations) && citations.length > 0
          ? "a user's text cannot have citations"
          : undefined,
      ),
  },
  {
    name: "no-breakpoint-on-thinking",
    check: (subject) =>
      atBlocks(subject, (block) =>
        THINKING.test(block.type) && block.cache_control !== undefined
          ? "thinking cannot have a breakpoint"
          : undefined,
      ),
  },
  {
    name: "system-message-placement",
    check: ({ message, index, previous, path }) => {
      if (previous?.role === "system" && message.role !== "assistant") {
        return [{ path, message: "a system message must be last or be followed by the assistant" }]
      }
      if (message.role !== "system") return []
      const follows = previous?.role === "user" || (previous !== undefined && endsInServerTool(previous))
      return index > 0 && follows ? [] : [{ path, message: "a system message must follow a user message" }]
    },
  },
  {
    name: "system-messages-accepted",
    check: ({ message, path, model }) =>
      message.role !== "system" || model.accepts.systemMessages
        ? []
        : [{ path, message: `${model.id} does not accept system messages between other messages` }],
  },
]
