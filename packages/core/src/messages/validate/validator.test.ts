import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole, size } from "../../../test/size.ts"
import { InvalidRequestError } from "../../base/errors.ts"
import { findModel } from "../../tokens/models.ts"
import { REQUEST_BYTES } from "../media.ts"
import type { ModelRequest } from "../request.ts"
import { RequestValidator, RULE_NAMES, validateRequest } from "./validator.ts"

type Raw = Record<string, unknown>
const text = (value: string, more: Raw = {}): Raw => ({ type: "text", text: value, ...more })
const call = (id: string, more: Raw = {}): Raw => ({ type: "tool_use", id, name: "Read", input: {}, ...more })
const result = (id: string, more: Raw = {}): Raw => ({ type: "tool_result", tool_use_id: id, content: "r", ...more })
const serverCall = (id: string): Raw => ({ type: "server_tool_use", id, name: "web_search", input: {} })
const serverResult = (id: string): Raw => ({ type: "web_search_tool_result", tool_use_id: id, content: [] })
const thinking = (more: Raw = {}): Raw => ({ type: "thinking", thinking: "hm", signature: "s", ...more })
const user = (...content: Raw[]): Raw => ({ role: "user", content })
const assistant = (...content: Raw[]): Raw => ({ role: "assistant", content })
const system = (...content: Raw[]): Raw => ({ role: "system", content })

const HI = user(text("hi"))
const HO = assistant(text("ho"))
const BREAKPOINT = { cache_control: { type: "ephemeral" } }
const LONG_BREAKPOINT = { cache_control: { type: "ephemeral", ttl: "1h" } }
const pdf = (file: string) => ({
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: Buffer.from(file).toString("base64") },
})
const TOOL = { name: "Read", input_schema: { type: "object" } }

const LATER = { ...TOOL, name: "Later", defer_loading: true }
const reference = (name: string): Raw => ({ type: "tool_reference", tool_name: name })

const DOCUMENT = { type: "document", source: { type: "text", media_type: "text/plain", data: "d" } }
const CITATION = { type: "web_search_result_location", cited_text: "c", encrypted_index: "e", title: "t", url: "u" }
const HALF = "\ud83d"

/** The first bytes of a PNG: enough to read its size. */
function png({ width = 1, height = 1, label = "image/png", bytes = 24 } = {}): Raw {
  const head = Buffer.alloc(bytes)
  head.write("\x89PNG\r\n\x1a\n", 0, "latin1")
  head.write("IHDR", 12, "latin1")
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return { type: "image", source: { type: "base64", media_type: label, data: head.toString("base64") } }
}

interface Case {
  /** Default: a model that accepts neither prefill nor system messages. */
  readonly model?: string
  readonly inputTokens?: { readonly valid: number; readonly broken: number }
  /** Fields that are added to a plain request. `undefined` removes one. */
  readonly valid: Raw
  readonly broken: Raw
  readonly path: string
}

const messages = (...list: Raw[]): Raw => ({ messages: list })
const loading = (...content: Raw[]): Raw => messages(HI, assistant(call("a")), user(result("a", { content })))

/** For each rule: a request that follows it, one that violates only this rule, and the path of the violation. */
const CASES: Readonly<Record<string, Case>> = {
  "required-fields": { valid: {}, broken: { max_tokens: undefined }, path: "max_tokens" },
  "no-sampling-parameters": { valid: {}, broken: { temperature: 0 }, path: "temperature" },
  "known-fields": { valid: { stream: true }, broken: { streaming: true }, path: "streaming" },
  "has-messages": { valid: messages(HI), broken: messages(), path: "messages" },
  "message-count": {
    valid: messages(...Array<Raw>(100_000).fill(HI)),
    broken: messages(...Array<Raw>(100_001).fill(HI)),
    path: "messages",
  },
  "request-bytes": {
    valid: messages(user(text("x".repeat(REQUEST_BYTES - 1_000)))),
    broken: messages(user(text("x".repeat(REQUEST_BYTES)))),
    path: "messages",
  },
  "input-fits-window": {
    valid: {},
    broken: {},
    inputTokens: { valid: 1_000_000, broken: 1_000_001 },
    path: "messages",
  },
  "output-fits-window": {
    model: "claude-opus-4-1",
    valid: { max_tokens: 20_000 },
    broken: { max_tokens: 20_001 },
    inputTokens: { valid: 180_000, broken: 180_000 },
    path: "max_tokens",
  },
  "max-tokens-cap": { valid: { max_tokens: 128_000 }, broken: { max_tokens: 128_001 }, path: "max_tokens" },
  "system-text-not-empty": {
    valid: { system: [text("You help.")] },
    broken: { system: [text("You help."), text(" \n")] },
    path: "system",
  },
  "thinking-budget-supported": {
    model: "claude-opus-4-7",
    valid: { thinking: { type: "adaptive" } },
    broken: { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 2_000 } },
    path: "thinking",
  },
  "thinking-budget-range": {
    model: "claude-sonnet-4-5",
    valid: { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 2_000 } },
    broken: { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 4_000 } },
    path: "thinking.budget_tokens",
  },
  "tools-have-schemas": {
    valid: { tools: [{ name: "A", input_schema: { type: "object" } }] },
    broken: { tools: [{ name: "A" } as never] },
    path: "tools.0",
  },
  "thinking-off-supported": {
    model: "claude-fable-5",
    valid: { thinking: { type: "adaptive" } },
    broken: { thinking: { type: "disabled" } },
    path: "thinking",
  },
  "adaptive-thinking-supported": {
    model: "claude-opus-4-5",
    valid: { thinking: { type: "disabled" } },
    broken: { thinking: { type: "adaptive" } },
    path: "thinking",
  },
  "forced-tools-supported": {
    model: "claude-opus-5-5",
    valid: { tools: [TOOL], tool_choice: { type: "auto" } },
    broken: { tools: [TOOL], tool_choice: { type: "any" } },
    path: "tool_choice",
  },
  "breakpoint-count": {
    valid: {
      tools: [{ ...TOOL, ...BREAKPOINT }],
      system: [text("s", BREAKPOINT)],
      ...messages(user(text("a", BREAKPOINT), text("b", BREAKPOINT))),
    },
    broken: {
      tools: [{ ...TOOL, ...BREAKPOINT }],
      system: [text("s", BREAKPOINT)],
      cache_control: { type: "ephemeral" }, // automatic caching uses one of the breakpoints
      ...messages(user(text("a", BREAKPOINT), text("b", BREAKPOINT))),
    },
    path: "cache_control",
  },
  "breakpoint-ttl-order": {
    valid: { system: [text("s", LONG_BREAKPOINT)], ...messages(user(text("a", BREAKPOINT))) },
    broken: { system: [text("s", BREAKPOINT)], ...messages(HI, HO, user(text("a", LONG_BREAKPOINT))) },
    path: "messages.2.content.0",
  },
  "no-breakpoint-on-empty-text": {
    valid: messages(HI, assistant(call("a")), user(result("a", { content: [text("x", BREAKPOINT)] }))),
    broken: messages(HI, assistant(call("a")), user(result("a", { content: [text("x"), text("", BREAKPOINT)] }))),
    path: "messages.2.content.0.content.1",
  },
  "known-roles": { valid: messages(HI, HO, HI), broken: messages(HI, { ...HI, role: "tool" }), path: "messages.1" },
  "first-message-user": {
    valid: messages(assistant({ type: "compaction", content: "so far" }), HI),
    broken: messages(HO, HI),
    path: "messages.0",
  },
  "content-not-empty": { valid: messages(HI, HI), broken: messages(HI, assistant(), HI), path: "messages.1" },
  "text-not-empty": {
    valid: messages(user(text("\u00a0x"))),
    broken: messages(HI, assistant(text("a"), text(" \t\n")), HI),
    path: "messages.1.content.1",
  },
  "known-block-types": {
    valid: messages(user(text("a"), { type: "search_result", source: "s", title: "t", content: [text("c")] })),
    broken: messages(user(text("a"), call("a"))),
    path: "messages.0.content.1",
  },
  "tool-use-answered": {
    valid: messages(HI, assistant(call("a"), call("b")), user(result("b"), result("a"))),
    broken: messages(HI, assistant(call("a"), call("b")), user(result("a"))),
    path: "messages.1",
  },
  "results-first": {
    valid: messages(HI, assistant(call("a")), user(result("a"), text("and"))),
    broken: messages(HI, assistant(call("a")), user(text("and"), result("a"))),
    path: "messages.2.content.1",
  },
  "tool-result-expected": {
    valid: messages(HI, assistant(call("a")), user(result("a"))),
    broken: messages(HI, assistant(call("a")), user(result("a"), result("z"))),
    path: "messages.2.content.1",
  },
  "single-result": {
    valid: messages(HI, assistant(call("a")), user(result("a"))),
    broken: messages(HI, assistant(call("a")), user(result("a"), result("a"))),
    path: "messages.2.content.1",
  },
  "well-formed-tool-use": {
    valid: messages(HI, assistant(call("a")), user(result("a"))),
    broken: messages(HI, assistant({ ...call("a"), name: "" }), user(result("a"))),
    path: "messages.1.content.0",
  },
  "unique-tool-use-ids": {
    valid: messages(HI, assistant(call("a")), user(result("a")), assistant(call("b")), user(result("b"))),
    broken: messages(HI, assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))),
    path: "messages.3.content.0",
  },
  "server-tool-answered": {
    valid: messages(HI, assistant(serverCall("s"), serverResult("s"), text("found")), HI),
    broken: messages(HI, assistant(serverCall("s"), text("found")), HI),
    path: "messages.1.content.0",
  },
  "server-result-expected": {
    valid: messages(HI, assistant(serverCall("s"), serverResult("s")), HI),
    broken: messages(HI, assistant(text("a"), serverResult("s")), HI),
    path: "messages.1.content.1",
  },
  "thinking-starts-turn": {
    valid: {
      max_tokens: 4_000,
      thinking: { type: "enabled", budget_tokens: 2_000 },
      ...messages(HI, assistant(thinking(), call("a")), user(result("a"))),
    },
    broken: {
      max_tokens: 4_000,
      thinking: { type: "enabled", budget_tokens: 2_000 },
      ...messages(HI, assistant(text("so"), call("a")), user(result("a"))),
    },
    path: "messages.2",
  },
  "no-prefill": { valid: messages(HI, HO, HI), broken: messages(HI, HO), path: "messages.1" },
  "no-space-after-prefill": {
    model: "claude-opus-4-5",
    valid: messages(HI, assistant(text("so"))),
    broken: messages(HI, assistant(text("so "))),
    path: "messages.1",
  },
  "field-shapes": { valid: { stop_sequences: ["a"] }, broken: { stop_sequences: "a" }, path: "stop_sequences" },
  "tool-shapes": {
    valid: { tools: [{ ...TOOL, strict: true }] },
    broken: { tools: [TOOL, { ...TOOL, name: "a b" }] },
    path: "tools.1",
  },
  "unique-tool-names": { valid: { tools: [TOOL] }, broken: { tools: [TOOL, TOOL] }, path: "tools" },
  "some-tool-declared": { valid: { tools: [TOOL, LATER] }, broken: { tools: [LATER] }, path: "tools" },
  "no-breakpoint-on-deferred-tool": {
    valid: { tools: [{ ...TOOL, ...BREAKPOINT }, LATER] },
    broken: { tools: [TOOL, { ...LATER, ...BREAKPOINT }] },
    path: "tools.1",
  },
  "tool-references-supported": {
    model: "claude-opus-4-1",
    valid: { tools: [TOOL, LATER], ...loading(text("no such tool")) },
    broken: { tools: [TOOL, LATER], ...loading(reference("Later")) },
    path: "messages.2.content.0",
  },
  "tool-references-resolve": {
    valid: { tools: [TOOL, LATER], ...loading(reference("Later")) },
    broken: { tools: [TOOL, LATER], ...loading(reference("Gone")) },
    path: "messages.2.content.0",
  },
  "tool-references-alone": {
    valid: { tools: [TOOL, LATER], ...loading(reference("Later"), reference("Read")) },
    broken: { tools: [TOOL, LATER], ...loading(text("found"), reference("Later")) },
    path: "messages.2.content.0",
  },
  "tool-choice-exists": {
    valid: { tools: [TOOL], tool_choice: { type: "tool", name: "Read" } },
    broken: { tools: [TOOL], tool_choice: { type: "tool", name: "Write" } },
    path: "tool_choice",
  },
  "no-forced-tools-with-budget": {
    valid: { tools: [TOOL], tool_choice: { type: "any" } },
    broken: {
      max_tokens: 4_000,
      thinking: { type: "enabled", budget_tokens: 2_000 },
      tools: [TOOL],
      tool_choice: { type: "any" },
    },
    path: "tool_choice",
  },
  "stop-sequences-not-empty": {
    valid: { stop_sequences: ["a"] },
    broken: { stop_sequences: ["a", " "] },
    path: "stop_sequences",
  },
  "only-warming-without-output": {
    valid: { max_tokens: 0 },
    broken: { max_tokens: 0, stream: true },
    path: "max_tokens",
  },
  "readable-images": {
    valid: messages(user(png())),
    broken: messages(user(png({ label: "image/jpeg" }))),
    path: "messages.0.content.0",
  },
  "readable-documents": {
    valid: messages(user(pdf("%PDF-1.4"))),
    broken: messages(user(pdf("no PDF"))),
    path: "messages.0.content.0",
  },
  "image-bytes": {
    valid: messages(user(png({ bytes: 3_900_000 }))),
    broken: messages(user(png({ bytes: 4_000_000 }))),
    path: "messages.0.content.0",
  },
  "image-pixels": {
    valid: messages(user(png({ width: 8_000 }))),
    broken: messages(user(text("a"), png({ width: 8_001 }))),
    path: "messages.0.content.1",
  },
  "image-count": {
    valid: messages(user(...Array<Raw>(100).fill(png()))),
    broken: messages(user(...Array<Raw>(101).fill(png()))),
    path: "messages",
  },
  "whole-characters-in-prompt": { valid: { system: "s" }, broken: { system: `s${HALF}` }, path: "system" },
  "automatic-breakpoint-comes-last": {
    valid: { cache_control: { type: "ephemeral" }, ...messages(user(text("a", LONG_BREAKPOINT), text("b"))) },
    broken: {
      cache_control: { type: "ephemeral", ttl: "1h" },
      ...messages(user(text("a", BREAKPOINT), text("b"))),
    },
    path: "cache_control",
  },
  "automatic-breakpoint-agrees": {
    valid: { cache_control: { type: "ephemeral" }, ...messages(user(text("a", BREAKPOINT))) },
    broken: { cache_control: { type: "ephemeral" }, ...messages(user(text("a", LONG_BREAKPOINT))) },
    path: "cache_control",
  },
  "message-shape": {
    valid: messages(HI, HO, HI),
    broken: messages({ ...HI, name: "me" }),
    path: "messages.0",
  },
  "block-shapes": {
    valid: messages(user(text("a"), DOCUMENT)),
    broken: messages(user(text("a", { shade: 1 }))),
    path: "messages.0.content.0",
  },
  "whole-characters": {
    valid: messages(user(text("\ud83d\ude00"))),
    broken: messages(user(text(`a${HALF}`))),
    path: "messages.0.content.0",
  },
  "no-document-in-assistant": {
    valid: messages(user(DOCUMENT)),
    broken: messages(HI, assistant(text("a"), DOCUMENT), HI),
    path: "messages.1.content.1",
  },
  "no-citations-in-user-text": {
    valid: messages(user(text("a", { citations: [] })), assistant(text("a", { citations: [CITATION] })), HI),
    broken: messages(user(text("a", { citations: [CITATION] }))),
    path: "messages.0.content.0",
  },
  "no-breakpoint-on-thinking": {
    valid: messages(HI, assistant(thinking(), text("a", BREAKPOINT)), HI),
    broken: messages(HI, assistant(thinking(BREAKPOINT), text("a")), HI),
    path: "messages.1.content.0",
  },
  "system-message-placement": {
    model: "claude-opus-4-8",
    valid: messages(HI, system(text("now")), HO, HI),
    broken: messages(HI, HO, system(text("now"))),
    path: "messages.2",
  },
  "system-messages-accepted": {
    model: "claude-sonnet-5",
    valid: messages(HI, HO, HI),
    broken: messages(HI, system(text("now"))),
    path: "messages.1",
  },
}

const requestOf = (fields: Raw): ModelRequest => {
  const { model = "m", max_tokens = 1_000, messages: list = [HI] } = fields
  const all: Raw = { model, max_tokens, messages: list, ...fields }
  for (const key of Object.keys(all)) if (all[key] === undefined) delete all[key]
  return all as unknown as ModelRequest
}

const modelOf = (name = "claude-opus-4-6") => findModel(name).facts

describe("MSG-12 each rule", () => {
  test("has a case here, and each case is a rule's", () => {
    expect(Object.keys(CASES).sort()).toEqual([...RULE_NAMES].sort())
  })

  // 100,000 messages take seconds
  const cases = Object.entries(CASES).filter(([rule]) => isWhole || rule !== "message-count")
  describe.each(cases)("%s", (rule, { model, inputTokens, valid, broken, path }) => {
    test("accepts a request that keeps it", () => {
      const subject = { request: requestOf(valid), model: modelOf(model) }
      expect(validateRequest({ ...subject, ...(inputTokens && { inputTokens: inputTokens.valid }) })).toEqual([])
    })

    test("finds the request that breaks it, and is the only one to do so", () => {
      const subject = { request: requestOf(broken), model: modelOf(model) }
      const found = validateRequest({ ...subject, ...(inputTokens && { inputTokens: inputTokens.broken }) })
      expect(found).toEqual([{ rule, path, message: expect.stringMatching(/\w{2,}/) }])
    })
  })
})

describe("MSG-12 further cases", () => {
  const rulesFor = (request: Raw, model?: string) =>
    validateRequest({ request: requestOf(request), model: modelOf(model) }).map(({ rule, path }) => `${rule} ${path}`)

  test.each(["model", "max_tokens", "messages"])(
    "a request without %s is reported as that, not as a crash",
    (field) => {
      const request = requestOf({}) as unknown as Raw
      delete request[field]
      const found = validateRequest({ request: request as unknown as ModelRequest, model: modelOf() })
      expect(found.map(({ rule, path }) => `${rule} ${path}`)).toContain(`required-fields ${field}`)
    },
  )

  test("content given as a string is a text like any other", () => {
    expect(rulesFor({ messages: [{ role: "user", content: "hi" }] })).toEqual([])
    expect(rulesFor({ messages: [{ role: "user", content: " " }] })).toEqual(["text-not-empty messages.0.content.0"])
  })

  test("a call in the last message has no result", () => {
    expect(rulesFor(messages(HI, assistant(call("a"))), "claude-opus-4-5")).toEqual(["tool-use-answered messages.1"])
  })

  test("a model that goes on with the assistant's words may be given them, or nothing yet", () => {
    expect(rulesFor(messages(HI, HO), "claude-opus-4-5")).toEqual([])
    expect(rulesFor(messages(HI, assistant()), "claude-opus-4-5")).toEqual([])
  })

  test("a server's turn that was interrupted may be sent back as it is", () => {
    expect(rulesFor(messages(HI, assistant(text("I search"), serverCall("s"))))).toEqual([])
  })

  test("a system message must be last or be followed by the assistant, and the model must take it", () => {
    expect(rulesFor(messages(HI, system(text("now"))), "claude-opus-4-8")).toEqual([])
    expect(rulesFor(messages(HI, system(text("now")), HI), "claude-opus-4-8")).toEqual([
      "system-message-placement messages.2",
    ])
    expect(rulesFor(messages(HI, system(text("now"))), "claude-sonnet-5")).toEqual([
      "system-messages-accepted messages.1",
    ])
  })

  test("everything that is wrong is found at once", () => {
    expect(rulesFor({ temperature: 1, ...messages(HO, user(text("a"), result("z"))) })).toEqual([
      "no-sampling-parameters temperature",
      "first-message-user messages.0",
      "results-first messages.1.content.1",
      "tool-result-expected messages.1.content.1",
    ])
  })

  test("check() throws an error that names rule and place and says that nothing was sent", () => {
    const subject = { request: requestOf({ top_k: 4, ...messages() }), model: modelOf() }
    const thrown = (() => {
      try {
        new RequestValidator().check(subject)
      } catch (error) {
        return error
      }
    })()
    expect(thrown).toBeInstanceOf(InvalidRequestError)
    const { message, violations } = thrown as InvalidRequestError
    expect(message).toContain("[no-sampling-parameters] top_k: ")
    expect(message).toContain("[has-messages] messages: ")
    expect(message).toMatch(/^The request was not sent/)
    expect(violations).toHaveLength(2)
    expect(() => new RequestValidator().check({ request: requestOf({}), model: modelOf() })).not.toThrow()
  })
})

describe("L2-2 deletions inside the server's cache", () => {
  const asking = requestOf(messages(user(text("a"), { type: "cache_edits", edits: [] })))
  const model = (cacheEditing: boolean) => {
    const facts = modelOf()
    return { ...facts, accepts: { ...facts.accepts, cacheEditing } }
  }

  test("only where the model edits caches, and never in the assistant's place", () => {
    const rules = (request: ModelRequest, edits: boolean) =>
      validateRequest({ request, model: model(edits) }).map(({ rule }) => rule)
    expect(rules(asking, true)).toEqual([])
    expect(rules(asking, false)).toEqual(["known-block-types"])
    const turned = requestOf(messages(HI, assistant(text("a"), { type: "cache_edits", edits: [] }), HI))
    expect(rules(turned, true)).toEqual(["known-block-types"])
  })
})

describe("MSG-12 looking only at what is new", () => {
  const anyId = fc.constantFrom("a", "b", "c")
  const anyBlock: fc.Arbitrary<Raw> = fc.oneof(
    fc.constantFrom("hi", "", " ").map((value) => text(value)),
    fc.constantFrom(BREAKPOINT, LONG_BREAKPOINT).map((more) => text("marked", more)),
    anyId.map((id) => call(id)),
    anyId.map((id) => result(id)),
    anyId.map((id) => serverCall(id)),
    anyId.map((id) => serverResult(id)),
    fc.constant(thinking()),
    fc.constant({ type: "odd" }),
  )
  const anyMessage: fc.Arbitrary<Raw> = fc.record({
    role: fc.constantFrom("user", "assistant", "assistant", "user", "system", "tool"),
    content: fc.array(anyBlock, { maxLength: 3 }),
  })
  /** Steps of a growing conversation: messages that are closed in this request, and open ones that the next step may replace. */
  const anyGrowth = fc.array(
    fc.record({
      closed: fc.array(anyMessage, { maxLength: 3 }),
      open: fc.array(anyMessage, { maxLength: 2 }),
      /** Number of open messages of the previous request that stay, and how many of these are closed now. */
      stay: fc.nat(3),
      closing: fc.nat(3),
      decision: fc.nat(5).map((n) => n === 0),
      replacement: anyMessage,
    }),
    { minLength: 1, maxLength: 6 },
  )

  test.runIf(isWhole)("finds the same as looking at everything, request after request", () => {
    let withViolations = 0
    fc.assert(
      fc.property(anyGrowth, (steps) => {
        const validator = new RequestValidator()
        let closed: Raw[] = []
        let revision = 0
        let before: Raw[] = []
        for (const { closed: added, open: fresh, stay, closing, decision, replacement } of steps) {
          const stayed = before.slice(0, stay)
          closed = [...closed, ...stayed.splice(0, closing)]
          const open = [...stayed, ...fresh]
          if (stayed.length > 0) added.length = 0
          before = open
          if (decision && closed.length > 0) {
            closed = [replacement, ...closed.slice(1)] // as when a tool result in it is cleared
            revision++
          }
          closed = [...closed, ...added]
          if (closed.length + open.length === 0) continue
          const request = requestOf(messages(...closed, ...open))
          const subject = { request, model: modelOf() }
          const incremental = validator.violations({ ...subject, settled: { closed: closed.length, revision } })
          expect(incremental).toEqual(validateRequest(subject))
          if (incremental.length > 0) withViolations++
        }
      }),
      { numRuns: size(100, 500), seed: 1 },
    )
    expect(withViolations).toBeGreaterThan(100)
  })

  test("a message that is not the last any more is looked at once, whether it is closed or not", () => {
    let reads = 0
    const counted = (message: Raw) =>
      new Proxy(message, {
        get: (target, key) => {
          if (key === "role") reads++
          return Reflect.get(target, key)
        },
      })
    const turns = Array.from({ length: 50 }, (_, at) => [
      counted(assistant(call(`c${at}`))),
      counted(user(result(`c${at}`))),
    ])
    const validator = new RequestValidator()
    const readsOf = (turn: number) => {
      reads = 0
      const request = requestOf(messages(HI, ...turns.slice(0, turn).flat()))
      const settled = { closed: Math.max(0, 2 * turn - 5), revision: 0 }
      expect(validator.violations({ request, model: modelOf(), settled })).toEqual([])
      return reads
    }
    const each = turns.map((_, turn) => readsOf(turn + 1))
    expect(new Set(each.slice(5)).size).toBe(1)
    const whole = new RequestValidator()
    reads = 0
    whole.violations({ request: requestOf(messages(HI, ...turns.flat())), model: modelOf() })
    expect(each.at(-1)).toBeLessThan((4 / 100) * reads) // 2 new messages, and the previously last one, of 101
  })

  test("bytes of messages looked at earlier still count", () => {
    const large = user(text("x".repeat(REQUEST_BYTES / 2)))
    const validator = new RequestValidator()
    const settled = { closed: 1, revision: 0 }
    const subject = { model: modelOf(), settled }
    expect(validator.violations({ ...subject, request: requestOf(messages(large, HI)) })).toEqual([])
    const found = validator.violations({ ...subject, request: requestOf(messages(large, large)) })
    expect(found.map(({ rule }) => rule)).toEqual(["request-bytes"])
  })
})
