/** The clients that are tried: what is installed, what is run, and how its output shows that it worked. */
import { join } from "node:path"
import { AGENT_SDK_PROGRAM, AI_SDK_PROGRAM, LANGCHAIN_PROGRAM, MASTRA_PROGRAM, SDK_PROGRAM } from "./programs.ts"

/** What a client gets to work with. */
export interface Place {
  /** The directory with `node_modules`. */
  readonly installed: string
  readonly home: string
  /** The simulator. */
  readonly url: string
}

export interface Client {
  readonly name: string
  /** As npm takes them. The first one gives the version in the table. */
  readonly packages: readonly string[]
  /** Installed instead if the newest cannot be: a registry may lack a package it needs. */
  readonly otherwise?: readonly string[]
  readonly task: string
  /** Files to write first, by path. */
  readonly files: (place: Place) => Readonly<Record<string, string>>
  readonly command: (place: Place) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** What the output of a run that worked matches. */
  readonly expected: RegExp
  /** Whether the client prints its bill and writes a transcript that `strata inspect` reads. */
  readonly bills?: boolean
}

/** The newest, then one of each generation that sends other betas. Each gets a model whose price it knows. */
const CLAUDE_CODE: Readonly<Record<string, string>> = {
  latest: "claude-opus-5-5",
  "2.1.300": "claude-opus-5",
  "2.1.200": "claude-opus-4-6",
  "2.1.100": "claude-opus-4-6",
  "2.1.50": "claude-opus-4-6",
  "2.0.77": "claude-opus-4-5",
}
/** The first with tools outside beta, then about one of each quarter, and the newest. */
const SDKS = ["latest", "1.0.0", "0.137.0", "0.110.0", "0.90.0", "0.70.1", "0.50.4", "0.27.3"]

const bin = ({ installed }: Place, name: string) => join(installed, "node_modules", ".bin", name)
const READ = "a tool call: Read notes.txt"
const BOTH = "a tool call and a structured output"

const claudeCode = ([version, model]: readonly [string, string]): Client => ({
  name: "Claude Code",
  packages: [`@anthropic-ai/claude-code@${version}`],
  task: READ,
  files: () => ({}),
  command: (place) => [
    ...[bin(place, "claude"), "-p", "Read notes.txt", "--output-format", "json"],
    ...["--model", model, "--allowedTools", "Read"],
  ],
  env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
  expected: /the answer is 42/,
  bills: true,
})

const library = (name: string, packages: readonly string[], program: string): Client => ({
  name,
  packages,
  task: BOTH,
  files: ({ installed }) => ({ [join(installed, "program.js")]: program }),
  command: ({ installed }) => [process.execPath, join(installed, "program.js")],
  expected: /^call: .*(?:Paris|14)[\s\S]*^structured: \{.*"degrees":\d+/m,
})

export const CLIENTS: readonly Client[] = [
  ...Object.entries(CLAUDE_CODE).map(claudeCode),
  {
    ...library("Agent SDK", ["@anthropic-ai/claude-agent-sdk"], AGENT_SDK_PROGRAM),
    task: READ,
    expected: /the answer is 42/,
    bills: true,
  },
  {
    name: "pi",
    packages: ["@earendil-works/pi-coding-agent"],
    otherwise: ["@earendil-works/pi-coding-agent@0.87.1"],
    task: READ,
    files: ({ home, url }) => ({
      [join(home, ".pi/agent/models.json")]: JSON.stringify({ providers: { anthropic: { baseUrl: url } } }),
    }),
    command: (place) => [
      ...[bin(place, "pi"), "-p", "--offline", "--provider", "anthropic", "--model", "claude-opus-4-6"],
      "read notes.txt",
    ],
    env: { PI_OFFLINE: "1" },
    expected: /the answer is 42/,
  },
  {
    name: "opencode",
    packages: ["opencode-ai"],
    task: READ,
    files: ({ home, url }) => ({
      [join(home, ".config/opencode/opencode.json")]: JSON.stringify({
        provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: "sk-simulator" } } },
        autoupdate: false,
        share: "disabled",
      }),
    }),
    command: (place) => [bin(place, "opencode"), "run", "-m", "anthropic/claude-opus-4-6", "read notes.txt"],
    expected: /the answer is 42/,
  },
  ...SDKS.map((version) => library("Anthropic SDK", [`@anthropic-ai/sdk@${version}`, "zod"], SDK_PROGRAM)),
  library("AI SDK", ["ai", "@ai-sdk/anthropic", "zod"], AI_SDK_PROGRAM),
  library("LangChain", ["@langchain/anthropic", "@langchain/core", "zod"], LANGCHAIN_PROGRAM),
  library("Mastra", ["@mastra/core", "@ai-sdk/anthropic", "zod"], MASTRA_PROGRAM),
]
