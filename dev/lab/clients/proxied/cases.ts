/** The cases: each client with windows of both sizes, with and without pauses. */

import { join } from "node:path"
import type { StepContext } from "../step.ts"
import type { Case } from "./case.ts"
import { agentSdk, claudeCode, compactedScenario, longScenario, opencode, pi, plainSdk } from "./scenarios.ts"

// Programs on libraries that handle one prompt to its end and store their conversation in a file.

export const PLAIN_PROGRAM = `import Anthropic from "@anthropic-ai/sdk"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
const [words, from, to = from] = process.argv.slice(2)
const { MODEL: model, BREAKPOINTS } = process.env
const client = new Anthropic({ maxRetries: 0 })
const breakpoint = BREAKPOINTS ? { cache_control: { type: "ephemeral" } } : {}
const input_schema = { type: "object", properties: { command: { type: "string" }, description: { type: "string" } } }
const tools = [{ name: "bash", description: "Prints a file. ".repeat(300), input_schema }]
const system = [{ type: "text", text: "You read the files of a project, one by one. ".repeat(300), ...breakpoint }]
const messages = existsSync(from) ? JSON.parse(readFileSync(from, "utf8")) : []
const marked = (message) => ({ ...message, content: message.content.with(-1, { ...message.content.at(-1), ...breakpoint }) })
messages.push({ role: "user", content: [{ type: "text", text: words }] })
while (messages.at(-1).role === "user") {
  const sent = messages.with(-1, marked(messages.at(-1)))
  const answer = await client.messages.stream({ model, max_tokens: 4000, system, tools, messages: sent }).finalMessage()
  messages.push({ role: "assistant", content: answer.content })
  const results = answer.content
    .filter(({ type }) => type === "tool_use")
    .map(({ id, input }) => ({ type: "tool_result", tool_use_id: id, content: readFileSync(input.command.slice(4), "utf8") }))
  if (results.length > 0) messages.push({ role: "user", content: results })
  else console.log(answer.content.at(-1).text)
}
writeFileSync(to, JSON.stringify(messages))
`

export const AGENT_SDK_PROGRAM = `import { query } from "@anthropic-ai/claude-agent-sdk"
const [prompt, resume, forks] = process.argv.slice(2)
const session = resume ? { resume, ...(forks ? { forkSession: true } : {}) } : {}
const options = { model: process.env.MODEL, allowedTools: ["Bash"], cwd: process.cwd(), ...session }
for await (const message of query({ prompt, options })) {
  if (message.type === "result") console.log(JSON.stringify(message))
}
`

const PAUSE_MINUTES = 10 // longer than the lifetime of a cache entry
const CLEARLY_CHEAPER = 0.75
const NOT_DEARER = 1

const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" }
const COMPACTS_AT_200K = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "200000" }

type Kind = Pick<Case, "what" | "pauseMinutes" | "goal"> & { readonly window: "1M" | "200K" }
const MILLION: Kind = { window: "1M", what: "1M", pauseMinutes: 0, goal: CLEARLY_CHEAPER }
const MILLION_PAUSES: Kind = { window: "1M", what: "1M, pauses", pauseMinutes: PAUSE_MINUTES, goal: CLEARLY_CHEAPER }
const SMALL: Kind = { window: "200K", what: "200K", pauseMinutes: 0, goal: NOT_DEARER }
const SMALL_PAUSES: Kind = { window: "200K", what: "200K, pauses", pauseMinutes: PAUSE_MINUTES, goal: CLEARLY_CHEAPER }
const BY_HAND: Kind = { window: "1M", what: "/compact", pauseMinutes: 0, goal: NOT_DEARER }

/** Each version with a model that it knows. `isMillion`: whether it gives this model a window of a million tokens. */
const CLAUDE_CODES = [
  { version: "latest", model: "claude-opus-5-5", isMillion: true },
  { version: "2.1.250", model: "claude-opus-5", isMillion: false },
  { version: "2.1.100", model: "claude-opus-4-6", isMillion: false },
  // without this setting the client sends more than fits
  { version: "2.0.77", model: "claude-opus-4-5", isMillion: false, env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "75" } },
] as const

const claudeCodeCases = CLAUDE_CODES.flatMap(({ version, model, isMillion, ...more }): readonly Case[] => {
  const own = "env" in more ? more.env : {}
  const starts = claudeCode(model)
  const common = { client: "Claude Code", packages: [`@anthropic-ai/claude-code@${version}`] }
  const long = (kind: Kind, env = {}): Case => ({
    ...common,
    ...kind,
    prompts: longScenario(starts, kind.window),
    env: { ...QUIET, ...own, ...env },
  })
  return [
    ...(isMillion ? [long(MILLION), long(MILLION_PAUSES)] : []),
    ...[long(SMALL, COMPACTS_AT_200K), long(SMALL_PAUSES, COMPACTS_AT_200K)],
    { ...common, ...BY_HAND, prompts: compactedScenario(starts), env: QUIET },
  ]
})

const programFile = (source: string) => (context: StepContext) => ({ [join(context.installed, "program.js")]: source })

const plain = (kind: Kind, env = {}): Case => ({
  client: "Anthropic SDK",
  packages: ["@anthropic-ai/sdk@latest", "zod"],
  prompts: longScenario(plainSdk, kind.window),
  files: programFile(PLAIN_PROGRAM),
  ...kind,
  env: { MODEL: "claude-opus-5-5", ...env },
})

const agent = (kind: Kind, env = {}): Case => ({
  client: "Agent SDK",
  packages: ["@anthropic-ai/claude-agent-sdk"],
  prompts: longScenario(agentSdk, kind.window),
  files: programFile(AGENT_SDK_PROGRAM),
  ...kind,
  env: { ...QUIET, MODEL: "claude-opus-5-5", ...env },
})

const piCase = (kind: Kind, reserveTokens: number): Case => ({
  client: "pi",
  packages: ["@earendil-works/pi-coding-agent"],
  otherwise: ["@earendil-works/pi-coding-agent@0.87.1"],
  prompts: longScenario(pi, kind.window),
  files: ({ home, url }) => ({
    [join(home, ".pi/agent/models.json")]: JSON.stringify({ providers: { anthropic: { baseUrl: url } } }),
    [join(home, ".pi/agent/settings.json")]: JSON.stringify({
      compaction: { reserveTokens, keepRecentTokens: 20_000 },
    }),
  }),
  env: { PI_OFFLINE: "1" },
  ...kind,
})

const opencodeCase = (kind: Kind, models = {}): Case => ({
  client: "opencode",
  packages: ["opencode-ai"],
  otherwise: ["opencode-ai@1.18.18"],
  prompts: longScenario(opencode, kind.window),
  files: ({ home, url }) => ({
    [join(home, ".config/opencode/opencode.json")]: JSON.stringify({
      provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: "sk-simulator" }, models } },
      autoupdate: false,
      share: "disabled",
    }),
  }),
  ...kind,
})

const SMALL_IN_OPENCODE = { "claude-opus-4-6": { limit: { context: 200_000, output: 8_000 } } }

export const CASES: readonly Case[] = [
  ...claudeCodeCases,
  plain(MILLION, { BREAKPOINTS: "1" }),
  plain(MILLION_PAUSES, { BREAKPOINTS: "1" }),
  plain({ ...MILLION, what: "1M, no marks" }),
  ...[agent(MILLION), agent(MILLION_PAUSES), agent(SMALL, COMPACTS_AT_200K)],
  ...[piCase(MILLION, 16_000), piCase(MILLION_PAUSES, 16_000), piCase(SMALL, 800_000)],
  ...[opencodeCase(MILLION), opencodeCase(MILLION_PAUSES), opencodeCase(SMALL, SMALL_IN_OPENCODE)],
]
