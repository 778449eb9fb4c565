/**
 * Random conversations for the invariants: steps that a loop, a model and a user could take, good and bad, and a player that runs them.
 * Steps refer to things by number (the third open call, the fifth message), so every shortened list is still a conversation.
 */
import fc from "fast-check"
import { InvalidContentError } from "../src/base/errors.ts"
import { type Conversation, engineOf } from "../src/conversation/conversation.ts"
import type { EntryDraft } from "../src/journal/entries.ts"
import type { Block } from "../src/messages/blocks.ts"
import { withExactInput } from "../src/messages/exact-json.ts"
import type { ModelRequest } from "../src/messages/request.ts"
import type { ModelResponse } from "../src/model/model.ts"
import type { DecidingLayer, LayerOrder } from "./deciding-layer.ts"

export type Step =
  | { readonly kind: "user"; readonly content: string | Block[] }
  | { readonly kind: "meta"; readonly text: string }
  | { readonly kind: "enqueue"; readonly text: string }
  | { readonly kind: "respond"; readonly pieces: readonly Piece[]; readonly stop: string; readonly usage: number }
  | { readonly kind: "results"; readonly which: readonly ResultStep[] }
  | { readonly kind: "attach"; readonly text: string; readonly isMemory: boolean }
  | { readonly kind: "rewind"; readonly to: number }
  | { readonly kind: "prepare" }
  | { readonly kind: "decide"; readonly order: LayerOrder }

/** A streamed part of a response. Early results follow it. */
interface Piece {
  readonly blocks: readonly BlockStep[]
  readonly answersFirst: boolean
}

type BlockStep =
  | { readonly block: "text"; readonly text: string }
  | { readonly block: "thinking"; readonly text: string; readonly signature: string }
  | { readonly block: "tool"; readonly name: string; readonly input: string; readonly reuseId: boolean }
  | { readonly block: "server"; readonly answered: boolean }
  | { readonly block: "orphan-server-result" }

interface ResultStep {
  readonly call: number
  readonly content: string | Block[]
  readonly failed: boolean
  readonly unknownId: boolean
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } }

const words = fc.constantFrom(
  "fix the test",
  "さようなら 世界",
  "总是使用中文",
  "никогда не удаляй",
  "لا تستخدم",
  "👩‍👩‍👧 emoji",
  "a\u0000b",
  "</system-reminder>",
  "never mind",
  "$& $1 `x`",
  '{"a":1}',
)
const text = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 2, arbitrary: fc.string({ maxLength: 40, unit: "grapheme" }) },
  { weight: 1, arbitrary: fc.constantFrom("", "  \n", "\ud800") },
)
const spokenText = text.filter((value) => value.trim() !== "")

/** Inputs as JSON texts. `JSON.stringify` would write some of them differently. */
const input = fc.oneof(
  fc.constantFrom(
    '{"file_path":"/a/b.ts"}',
    '{"b":1,"1":2}',
    '{ "n" : 1.0, "big" : 12345678901234567890 }',
    "{}",
    '"text"',
    "null",
    '{"s":"\\u00e9\\/"}',
    '{"__proto__":{"x":1}}',
  ),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify({ value })),
)

const blockStep: fc.Arbitrary<BlockStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ block: fc.constant("text" as const), text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      block: fc.constant("thinking" as const),
      text,
      signature: fc.constantFrom("sig", "sig", ""),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      block: fc.constant("tool" as const),
      name: fc.constantFrom("Read", "Bash", "Edit", "TodoWrite", "mcp__x", "", "not a name"),
      input,
      reuseId: fc.nat(12).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ block: fc.constant("server" as const), answered: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ block: "orphan-server-result" as const }) },
)

const content: fc.Arbitrary<string | Block[]> = fc.oneof(
  { weight: 3, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        text.map((value): Block => ({ type: "text", text: value })),
        fc.constant(image),
      ),
      { maxLength: 3 },
    ),
  },
)

const userContent: fc.Arbitrary<string | Block[]> = fc.oneof(
  { weight: 3, arbitrary: spokenText },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        text.map((value): Block => ({ type: "text", text: value })),
        text.map((value): Block => ({ type: "text", text: value, cache_control: { type: "ephemeral" } })),
        fc.constant(image),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  },
)

const resultStep: fc.Arbitrary<ResultStep> = fc.record({
  call: fc.nat(6),
  content,
  failed: fc.boolean(),
  unknownId: fc.nat(15).map((n) => n === 0),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("user" as const), content: userContent }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("meta" as const), text: spokenText }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("respond" as const),
      pieces: fc.array(fc.record({ blocks: fc.array(blockStep, { maxLength: 4 }), answersFirst: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
      }),
      stop: fc.constantFrom("end_turn", "tool_use", "max_tokens", "pause_turn", "refusal"),
      usage: fc.nat(5_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("results" as const),
      which: fc.array(resultStep, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("attach" as const), text, isMemory: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rewind" as const), to: fc.nat(40) }) },
  { weight: 4, arbitrary: fc.constant({ kind: "prepare" as const }) },
)

/** A conversation: first a user message, then anything. */
export const conversations: fc.Arbitrary<readonly Step[]> = conversationOf(step)

const order: fc.Arbitrary<LayerOrder> = fc.oneof(
  fc.record({
    what: fc.constantFrom("clear" as const, "persist" as const, "cache-edit" as const, "clear-memory" as const),
    which: fc.nat(10),
  }),
  fc.record({ what: fc.constantFrom("drop-thinking" as const, "drop-cache-edits" as const) }),
  fc.record({ what: fc.constant("undo" as const), which: fc.nat(10) }),
  fc.record({ what: fc.constant("compact" as const), keepRounds: fc.nat(3) }),
  fc.record({ what: fc.constantFrom("fold" as const, "snip" as const), first: fc.nat(20), last: fc.nat(20) }),
)

/** Conversations with decisions of layers, and with a user who types in the meantime. */
export const decidedConversations: fc.Arbitrary<readonly Step[]> = conversationOf(
  fc.oneof(
    { weight: 8, arbitrary: step },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("enqueue" as const), text: spokenText }) },
    { weight: 2, arbitrary: order.map((given): Step => ({ kind: "decide", order: given })) },
  ),
)

function conversationOf(steps: fc.Arbitrary<Step>): fc.Arbitrary<readonly Step[]> {
  return fc
    .tuple(spokenText, fc.array(steps, { maxLength: 25 }))
    .map(([first, rest]) => [{ kind: "user", content: first }, ...rest])
}

/** The state of a player between steps, so that it can continue with a reopened conversation. */
export interface Player {
  readonly calls: string[]
  readonly messages: string[]
  readonly layer: DecidingLayer | undefined
  count: number
}

export const newPlayer = (layer?: DecidingLayer): Player => ({ calls: [], messages: [], count: 0, layer })

/** Runs one step. Resolves with the request if the step prepares one. */
export async function play(chat: Conversation, step: Step, player: Player): Promise<ModelRequest | undefined> {
  switch (step.kind) {
    case "user":
      player.messages.push(await chat.add({ role: "user", content: step.content }))
      return
    case "meta":
      player.messages.push(await chat.add({ role: "user", content: step.text, isMeta: true }))
      return
    case "enqueue":
      player.messages.push(await chat.enqueue(step.text))
      return
    case "attach":
      player.messages.push(
        await chat.attach(
          step.isMemory
            ? { type: "memory", path: "memory/note.md", content: step.text }
            : { type: "hook_output", hook: "test", content: step.text },
        ),
      )
      return
    case "results":
      await answer(chat, step.which, player)
      return
    case "respond":
      await respond(chat, step, player)
      return
    case "rewind":
      if (player.messages.length > 0) await chat.rewind(player.messages[step.to % player.messages.length]!)
      return
    case "decide":
      player.layer?.order(step.order)
      return
    case "prepare":
      return chat.prepare()
  }
}

async function answer(chat: Conversation, which: readonly ResultStep[], player: Player): Promise<void> {
  const blocks = which.flatMap(({ call, content, failed, unknownId }): Block[] => {
    const id = unknownId ? "toolu_nobody" : player.calls.at(-1 - (call % Math.max(1, player.calls.length)))
    return id === undefined
      ? []
      : [{ type: "tool_result", tool_use_id: id, content: content as string, ...(failed ? { is_error: true } : {}) }]
  })
  if (blocks.length > 0) await addResults(chat, blocks, player)
}

/** A journal may contain results that no call waits for, though `add` accepts none. */
async function addResults(chat: Conversation, content: readonly Block[], player: Player): Promise<void> {
  try {
    player.messages.push(await chat.add({ role: "user", content }))
  } catch (error) {
    if (!(error instanceof InvalidContentError) || !/no open call/.test(error.message)) throw error
    const draft: EntryDraft = { type: "user", message: { role: "user", content } }
    await engineOf(chat).layers.act({ name: "test" }, async () => ({ drafts: [draft] }))
  }
}

async function respond(chat: Conversation, step: Extract<Step, { kind: "respond" }>, player: Player): Promise<void> {
  const id = `msg_${player.count++}`
  for (const [at, piece] of step.pieces.entries()) {
    const before = player.calls.length
    const content = piece.blocks.flatMap((block) => blocksFor(block, player))
    const response: ModelResponse = {
      id,
      model: "claude-opus-4-6",
      content,
      stop_reason: at === step.pieces.length - 1 ? step.stop : null,
      usage: { input_tokens: step.usage, output_tokens: 10 },
    }
    player.messages.push(await chat.record(response))
    const own = player.calls.slice(before)
    if (piece.answersFirst && own[0] !== undefined) {
      await addResults(chat, [{ type: "tool_result", tool_use_id: own[0], content: "early" }], player)
    }
  }
}

function blocksFor(step: BlockStep, player: Player): unknown[] {
  switch (step.block) {
    case "text":
      return [{ type: "text", text: step.text, citations: null }]
    case "thinking":
      return [{ type: "thinking", thinking: step.text, signature: step.signature }]
    case "tool": {
      const reused = step.reuseId ? player.calls.at(-1) : undefined
      const id = reused ?? `toolu_${player.count++}`
      player.calls.push(id)
      return [withExactInput({ type: "tool_use", id, name: step.name, input: {} }, step.input)]
    }
    case "server": {
      const id = `srvtoolu_${player.count++}`
      const use = { type: "server_tool_use", id, name: "web_search", input: { query: "x" } }
      return step.answered ? [use, { type: "web_search_tool_result", tool_use_id: id, content: [] }] : [use]
    }
    case "orphan-server-result":
      return [{ type: "web_search_tool_result", tool_use_id: `srvtoolu_${player.count++}`, content: [] }]
  }
}
