/** The clients that are tried: what is installed, what is run, and how its output shows that it worked. */
import { join } from "node:path"
import { claudeCodeCourse, opencodeCourse, piCourse } from "./course.ts"
import { AGENT_SDK_PROGRAM, AI_SDK_PROGRAM, LANGCHAIN_PROGRAM, MASTRA_PROGRAM, SDK_PROGRAM } from "./programs.ts"
import type { Place, Step } from "./step.ts"

export interface Client {
  readonly name: string
  /** As npm takes them. The first one gives the version in the table. */
  readonly packages: readonly string[]
  /** Installed instead if the newest cannot be: a registry may lack a package it needs. */
  readonly otherwise?: readonly string[]
  readonly steps: readonly Step[]
  /** Files to write before the first step, by path. */
  readonly files?: (place: Place) => Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Whether it writes transcripts that `strata inspect` reads. */
  readonly transcripts?: boolean
}

/** The newest, then one of each generation that sends other betas. Each gets a model whose price it knows, and compacts at a share of its window. */
const CLAUDE_CODE: readonly { readonly version: string; readonly model: string; readonly percent: number }[] = [
  { version: "latest", model: "claude-opus-5-5", percent: 50 },
  { version: "2.1.300", model: "claude-opus-5", percent: 50 },
  { version: "2.1.200", model: "claude-opus-4-6", percent: 50 },
  { version: "2.1.150", model: "claude-opus-4-6", percent: 50 },
  { version: "2.1.100", model: "claude-opus-4-6", percent: 50 },
  { version: "2.1.50", model: "claude-opus-4-6", percent: 20 },
  { version: "2.0.77", model: "claude-opus-4-5", percent: 20 },
]
/** The first with tools outside beta, then about one of each quarter, and the newest. */
const SDKS = ["latest", "1.0.0", "0.137.0", "0.110.0", "0.90.0", "0.70.1", "0.50.4", "0.27.3"]

const bin = ({ installed }: Place, name: string) => join(installed, "node_modules", ".bin", name)

const claudeCode = ({ version, model, percent }: (typeof CLAUDE_CODE)[number]): Client => ({
  name: "Claude Code",
  packages: [`@anthropic-ai/claude-code@${version}`],
  steps: claudeCodeCourse((place) => bin(place, "claude"), model, percent),
  env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
  transcripts: true,
})

const program = (source: string, more: Pick<Step, "what" | "expected" | "bill">): Step => ({
  files: ({ installed }) => ({ [join(installed, "program.js")]: source }),
  command: ({ installed }) => [process.execPath, join(installed, "program.js")],
  ...more,
})
const CALL_AND_OUTPUT = {
  what: "a tool call and a structured output",
  expected: /^call: .*(?:Paris|14)[\s\S]*^structured: \{.*"degrees":\d+/m,
}

const library = (name: string, packages: readonly string[], source: string): Client => ({
  name,
  packages,
  steps: [program(source, CALL_AND_OUTPUT)],
})

export const CLIENTS: readonly Client[] = [
  ...CLAUDE_CODE.map(claudeCode),
  {
    name: "Agent SDK",
    packages: ["@anthropic-ai/claude-agent-sdk"],
    steps: [
      program(AGENT_SDK_PROGRAM, {
        what: "a tool call",
        expected: /the answer is 42/,
        bill: ({ stdout }) => Number(/"total_cost_usd":([\d.e-]+)/.exec(stdout)?.[1]),
      }),
    ],
    transcripts: true,
  },
  {
    name: "pi",
    packages: ["@earendil-works/pi-coding-agent"],
    otherwise: ["@earendil-works/pi-coding-agent@0.87.1"],
    steps: piCourse((place) => bin(place, "pi")),
    files: ({ home, url }) => ({
      [join(home, ".pi/agent/models.json")]: JSON.stringify({ providers: { anthropic: { baseUrl: url } } }),
    }),
    env: { PI_OFFLINE: "1" },
  },
  {
    name: "opencode",
    packages: ["opencode-ai"],
    otherwise: ["opencode-ai@1.18.18"],
    steps: opencodeCourse((place) => bin(place, "opencode")),
  },
  ...SDKS.map((version) => library("Anthropic SDK", [`@anthropic-ai/sdk@${version}`, "zod"], SDK_PROGRAM)),
  library("AI SDK", ["ai", "@ai-sdk/anthropic", "zod"], AI_SDK_PROGRAM),
  library("LangChain", ["@langchain/anthropic", "@langchain/core", "zod"], LANGCHAIN_PROGRAM),
  library("Mastra", ["@mastra/core", "@ai-sdk/anthropic", "zod"], MASTRA_PROGRAM),
]
