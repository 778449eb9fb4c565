/** Betas and system messages: what real clients send is accepted, and two switches make the simulator stricter. */
import { describe, expect, test } from "vitest"
import { hello, post, postJson, simulator } from "../test/simulator.ts"

/** Every beta that recorded clients send: Claude Code 1.0 to 2.1.325, the Agent SDK, pi, opencode, AI SDK 7, SDK 1.8, Cline. */
const SENT_BY_CLIENTS = [
  "adaptive-thinking-2026-01-28",
  "afk-mode-2026-01-31",
  "advanced-tool-use-2025-11-20",
  "claude-code-20250219",
  "code-execution-2025-05-22",
  "code-execution-2025-08-25",
  "code-execution-web-tools-2026-02-09",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "fallback-credit-2026-06-01",
  "fine-grained-tool-streaming-2025-05-14",
  "interleaved-thinking-2025-05-14",
  "mcp-client-2025-04-04",
  "mid-conversation-output-config-2026-07-01",
  "mid-conversation-system-2026-04-07",
  "mid-conversation-tool-changes-2026-07-01",
  "per-turn-control-2026-07-01",
  "prompt-caching-2024-07-31",
  "prompt-caching-scope-2026-01-05",
  "structured-outputs-2025-11-13",
  "structured-outputs-2025-12-15",
  "thinking-binding-controls-2026-08-01",
  "thinking-display-updates-2026-08-18",
  "thinking-token-count-2026-05-13",
  "token-counting-2024-11-01",
]
const UNKNOWN = "time-travel-2026-01-01"
const config = { role: "system", output_config: { effort: "low" } }

describe("BEY-8 betas", () => {
  test("BEY-8 every beta that recorded clients send is accepted, also by a strict simulator", async () => {
    const sim = await simulator({ strictBetas: true })
    expect((await post(sim, hello(), { betas: SENT_BY_CLIENTS })).status).toBe(200)
  })

  test("BEY-8 an unknown beta passes, a malformed one does not", async () => {
    const sim = await simulator()
    expect((await post(sim, hello(), { betas: [UNKNOWN] })).status).toBe(200)
    expect((await post(sim, hello(), { betas: ["time travel"] })).status).toBe(400)
    expect((await post(sim, hello(), { betas: ["x".repeat(129)] })).status).toBe(400)
  })

  test("BEY-8 strictBetas refuses an unknown beta", async () => {
    const sim = await simulator({ strictBetas: true })
    const { error } = await postJson(sim, hello(), { betas: [UNKNOWN] })
    expect(error.message).toBe(`Unexpected value(s) \`${UNKNOWN}\` for the \`anthropic-beta\` header.`)
  })
})

test("BEY-8 the safeguards of Claude Code pass with their beta", async () => {
  const sim = await simulator()
  const body = hello({ safeguards: [{ type: "dangerous_tool_use", classifier_context: { v: 1 } }] })
  expect((await post(sim, body, { betas: ["dangerous-tool-use-2026-09-03"] })).status).toBe(200)
  expect((await post(sim, body)).status).toBe(400)
})

describe("BEY-8 system messages", () => {
  const following = (message: object) => hello({ messages: [{ role: "user", content: "Hi" }, message] })

  test.each(["per-turn-control-2026-07-01", "mid-conversation-output-config-2026-07-01"])(
    "BEY-8 with %s one may have an output_config and no content",
    async (beta) => {
      const sim = await simulator()
      expect(await postJson(sim, following(config), { betas: [beta] })).toMatchObject({ type: "message" })
    },
  )

  test("BEY-8 with per-turn control, a message of the user may have an output_config", async () => {
    const sim = await simulator()
    const body = hello({ messages: [{ role: "user", content: "Hi", output_config: { effort: "low" } }] })
    expect(await postJson(sim, body, { betas: ["per-turn-control-2026-07-01"] })).toMatchObject({ type: "message" })
    expect(await postJson(sim, body)).toMatchObject({ type: "error" })
  })

  test.each(["claude-sonnet-5", "claude-haiku-5-5"])("BEY-8 %s takes them, unless the switch is set", async (model) => {
    const body = { ...following({ role: "system", content: "Be brief" }), model }
    expect((await post(await simulator(), body)).status).toBe(200)
    expect((await post(await simulator({ strictSystemMessages: true }), body)).status).toBe(400)
  })

  test("BEY-8 a fallback block may carry its trigger", async () => {
    const sim = await simulator()
    const fallback = { type: "fallback", from: { model: "a" }, to: { model: "b" }, trigger: { type: "refusal" } }
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [fallback, { type: "text", text: "Hi" }] },
      { role: "user", content: "Go on" },
    ]
    const body = hello({ messages, fallbacks: [{ model: "claude-opus-4-8" }] })
    expect(await postJson(sim, body, { betas: ["server-side-fallback-2026-07-01"] })).toMatchObject({ type: "message" })
  })
})
