import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { SettingsError } from "./errors.ts"
import { FIGURES, SWITCHES } from "./flag-names.ts"
import {
  combineSettings,
  compactionAllowed,
  DEFAULT_SETTINGS,
  ENVIRONMENT,
  loadSettings,
  type SettingsInput,
  type SettingsSources,
} from "./settings.ts"

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "strata-settings-"))
})
afterEach(() => rm(root, { recursive: true }))

const home = () => join(root, "home")
const cwd = () => join(root, "project")
const userFile = () => join(home(), "settings.json")
const projectFile = () => join(cwd(), ".strata", "settings.json")
const localFile = () => join(cwd(), ".strata", "settings.local.json")

async function write(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content))
}

const load = (more: Partial<SettingsSources> = {}) => loadSettings({ home: home(), cwd: cwd(), env: {}, ...more })

async function problemsOf(loading: Promise<unknown>): Promise<SettingsError["problems"]> {
  const error = await loading.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SettingsError)
  return (error as SettingsError).problems
}

describe("SET-1 sources", () => {
  test("without any source the defaults stand and nothing has an origin", async () => {
    expect(await load()).toEqual({ values: DEFAULT_SETTINGS, origins: {} })
  })

  test("later wins: user file, project file, local file, environment, options in code", async () => {
    const sources: { readonly name: string; readonly value: number; set(): Promise<void> | void }[] = [
      { name: userFile(), value: 1_001, set: () => write(userFile(), { maxOutputTokens: 1_001 }) },
      { name: projectFile(), value: 1_002, set: () => write(projectFile(), { maxOutputTokens: 1_002 }) },
      { name: localFile(), value: 1_003, set: () => write(localFile(), { maxOutputTokens: 1_003 }) },
      {
        name: "environment STRATA_MAX_OUTPUT_TOKENS",
        value: 1_004,
        set: () => {
          env.STRATA_MAX_OUTPUT_TOKENS = "1004"
        },
      },
      {
        name: "options in code",
        value: 1_005,
        set: () => {
          code.maxOutputTokens = 1_005
        },
      },
    ]
    const env: Record<string, string> = {}
    const code: { maxOutputTokens?: number } = {}
    for (const { name, value, set } of sources) {
      await set()
      const { values, origins } = await load({ env, code })
      expect(values.maxOutputTokens).toBe(value)
      expect(origins).toEqual({ maxOutputTokens: name })
    }
  })

  test("each key has the origin of its own value", async () => {
    await write(userFile(), { flush: "always", exportContent: true })
    await write(localFile(), { exportContent: false })
    const { values, origins } = await load({ code: { autoCompactPercent: 80 } })
    expect(values).toEqual({ ...DEFAULT_SETTINGS, flush: "always", exportContent: false, autoCompactPercent: 80 })
    expect(origins).toEqual({ flush: userFile(), exportContent: localFile(), autoCompactPercent: "options in code" })
  })

  test("records are merged key by key, and each key has its own origin", async () => {
    await write(userFile(), {
      models: { "claude-x": { window: 100_000 }, "claude-y": { window: 50_000 } },
      toolResultLimits: { Read: 10 },
      switches: { notes: false },
    })
    await write(projectFile(), { models: { "claude-x": { maxOutput: 4_000 } }, toolResultLimits: { Bash: 20 } })
    const { values, origins } = await load({ env: { STRATA_IDLE_KEEP: "7" }, code: { switches: { fold: true } } })
    expect(values.models).toEqual({ "claude-x": { maxOutput: 4_000 }, "claude-y": { window: 50_000 } })
    expect(values.toolResultLimits).toEqual({ Read: 10, Bash: 20 })
    expect(values.switches).toEqual({ notes: false, fold: true })
    expect(values.figures).toEqual({ "idle-keep": 7 })
    expect(origins).toEqual({
      "models.claude-x": projectFile(),
      "models.claude-y": userFile(),
      "toolResultLimits.Read": userFile(),
      "toolResultLimits.Bash": projectFile(),
      "switches.notes": userFile(),
      "switches.fold": "options in code",
      "figures.idle-keep": "environment STRATA_IDLE_KEEP",
    })
  })

  test("a file that is both the user's and the project's is read once", async () => {
    const shared = join(cwd(), ".strata")
    await write(projectFile(), { flush: "never" })
    const { origins } = await load({ home: shared })
    expect(origins).toEqual({ flush: projectFile() })
  })

  test("an editor's $schema is allowed and is no setting", async () => {
    await write(userFile(), { $schema: "./settings.schema.json", flush: "never" })
    expect(await load()).toEqual({ values: { ...DEFAULT_SETTINGS, flush: "never" }, origins: { flush: userFile() } })
  })

  test("the defaults are the same after any loading", async () => {
    const before = structuredClone(DEFAULT_SETTINGS)
    await load({ code: { switches: { notes: false }, models: { x: { window: 5 } } } })
    expect(DEFAULT_SETTINGS).toEqual(before)
  })
})

describe("SET-1 errors name source, key and reason", () => {
  test("a file that is not JSON", async () => {
    await write(projectFile(), '{ "flush": ')
    expect(await problemsOf(load())).toEqual([
      { source: projectFile(), key: "", reason: expect.stringMatching(/^is not JSON \(.+\)$/) },
    ])
  })

  test("a file that cannot be read", async () => {
    await mkdir(userFile(), { recursive: true }) // a directory in its place
    expect(await problemsOf(load())).toEqual([{ source: userFile(), key: "", reason: "cannot be read (EISDIR)" }])
  })

  test.each([
    ["no object", "[]", ""],
    ["null", "null", ""],
    ["an unknown key", { autocompact: true }, "autocompact"],
    ["a wrong type", { exportContent: "yes" }, "exportContent"],
    ["a wrong value", { flush: "sometimes" }, "flush"],
    ["a window of nothing", { contextWindow: 0 }, "contextWindow"],
    [
      "something no model accepts",
      { models: { x: { accepts: { mindReading: true } } } },
      "models.x.accepts.mindReading",
    ],
    ["an unknown key of a model", { models: { "claude-x": { windows: 5 } } }, "models.claude-x.windows"],
    ["a price that is not complete", { models: { x: { price: { input: 1 } } } }, "models.x.price.output"],
    ["an unknown switch", { switches: { nonsense: true } }, "switches.nonsense"],
    ["an unknown figure", { figures: { nonsense: 1 } }, "figures.nonsense"],
    ["a figure that is no number", { figures: { "idle-gap": "60" } }, "figures.idle-gap"],
    ["half a character", { toolResultLimits: { Read: 0.5 } }, "toolResultLimits.Read"],
  ])("%s", async (_name, content, key) => {
    await write(localFile(), content)
    const problems = await problemsOf(load())
    expect(problems[0]).toEqual({ source: localFile(), key, reason: expect.stringMatching(/\w{3}/) })
  })

  test("the text for the person has all of it, for every problem of every source", async () => {
    await write(userFile(), { flush: "sometimes", nonsense: 1 })
    const error = (await load({ env: { STRATA_CONTEXT_WINDOW: "much" } }).catch((thrown: unknown) => thrown)) as Error
    expect(error.message).toContain(`${userFile()}: flush: `)
    expect(error.message).toContain(`${userFile()}: nonsense: there is no such setting`)
    expect(error.message).toContain("environment STRATA_CONTEXT_WINDOW: contextWindow: ")
  })

  test.each([
    ["STRATA_CONTEXT_WINDOW", "much", "contextWindow"],
    ["STRATA_CONTEXT_WINDOW", "-5", "contextWindow"],
    ["CLAUDE_CODE_MAX_OUTPUT_TOKENS", "1.5", "maxOutputTokens"],
    ["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "eighty", "autoCompactPercent"],
    ["STRATA_FLUSH", "sometimes", "flush"],
    ["STRATA_IDLE_GAP", "an hour", "figures.idle-gap"],
  ])("the environment: %s=%s", async (name, text, key) => {
    const problems = await problemsOf(load({ env: { [name]: text } }))
    expect(problems).toEqual([{ source: `environment ${name}`, key, reason: expect.stringMatching(/\w{3}/) }])
  })

  test("options in code", async () => {
    const code = { flush: 1, nonsense: true } as unknown as SettingsInput
    const problems = await problemsOf(load({ code }))
    expect(problems.map(({ source, key }) => [source, key])).toEqual([
      ["options in code", "flush"],
      ["options in code", "nonsense"],
    ])
  })
})

describe("WIN-5 environment", () => {
  const ON = ["1", "true", "yes", "on", "TRUE", "Yes", " on "]
  const NOT_ON = ["0", "false", "no", "off", "2", "enabled"]

  test.each(ON)("%j counts as set", async (text) => {
    expect((await load({ env: { DISABLE_COMPACT: text } })).values.disableCompact).toBe(true)
  })

  test.each(NOT_ON)("%j does not", async (text) => {
    await write(userFile(), { disableCompact: true })
    expect((await load({ env: { STRATA_DISABLE_COMPACT: text } })).values.disableCompact).toBe(false)
  })

  test.each([
    ["STRATA_OFF", "off", "1", true],
    ["STRATA_DISABLE_COMPACT", "disableCompact", "1", true],
    ["DISABLE_COMPACT", "disableCompact", "1", true],
    ["STRATA_DISABLE_AUTO_COMPACT", "disableAutoCompact", "1", true],
    ["DISABLE_AUTO_COMPACT", "disableAutoCompact", "1", true],
    ["STRATA_DISABLE_MICROCOMPACT", "disableMicrocompact", "1", true],
    ["DISABLE_MICROCOMPACT", "disableMicrocompact", "1", true],
    ["STRATA_AUTOCOMPACT_PCT", "autoCompactPercent", "75.5", 75.5],
    ["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "autoCompactPercent", "75", 75],
    ["STRATA_AUTOCOMPACT_TOKENS", "autoCompactTokens", "90000", 90_000],
    ["STRATA_CONTEXT_WINDOW", "contextWindow", "400000", 400_000],
    ["STRATA_FLUSH", "flush", "always", "always"],
    ["STRATA_EXPORT_CONTENT", "exportContent", "1", true],
  ])("%s sets %s", async (name, key, text, value) => {
    const { values, origins } = await load({ env: { [name]: text } })
    expect(values).toEqual({ ...DEFAULT_SETTINGS, [key]: value })
    expect(origins).toEqual({ [key]: `environment ${name}` })
  })

  test.each([
    ["STRATA_DISABLE_COMPACT", "DISABLE_COMPACT", "disableCompact", "0", "1", false],
    ["STRATA_DISABLE_AUTO_COMPACT", "DISABLE_AUTO_COMPACT", "disableAutoCompact", "0", "1", false],
    ["STRATA_DISABLE_MICROCOMPACT", "DISABLE_MICROCOMPACT", "disableMicrocompact", "0", "1", false],
    ["STRATA_AUTOCOMPACT_PCT", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "autoCompactPercent", "70", "50", 70],
    ["STRATA_CONTEXT_WINDOW", "CLAUDE_CODE_MAX_CONTEXT_TOKENS", "contextWindow", "7", "5", 7],
    ["STRATA_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "maxOutputTokens", "7", "5", 7],
  ] as const)("our own name wins over the one that people bring along: %s over %s", async (...row) => {
    const [ours, theirs, key, ourText, theirText, value] = row
    const { values, origins } = await load({ env: { [theirs]: theirText, [ours]: ourText } })
    expect(values[key]).toBe(value)
    expect(origins).toEqual({ [key]: `environment ${ours}` })
  })

  test("every setting that the environment can make is tried here", () => {
    const tried = ["off", "disableCompact", "disableAutoCompact", "disableMicrocompact", "autoCompactPercent"]
    const more = ["autoCompactTokens", "contextWindow", "maxOutputTokens", "flush", "exportContent"]
    expect(ENVIRONMENT.map(({ key }) => key).sort()).toEqual([...tried, ...more].sort())
  })

  test("an empty variable is as if it were not there", async () => {
    const env = { STRATA_OFF: "", STRATA_DISABLE_COMPACT: "", DISABLE_COMPACT: "1", STRATA_CONTEXT_WINDOW: " " }
    const { values, origins } = await load({ env })
    expect(values).toEqual({ ...DEFAULT_SETTINGS, disableCompact: true })
    expect(origins).toEqual({ disableCompact: "environment DISABLE_COMPACT" })
  })

  test("FLG-1, FLG-2 every switch and every figure has a variable of its own, and all start with STRATA_", async () => {
    const env = Object.fromEntries([
      ...SWITCHES.map((entry) => [entry.env, entry.on ? "0" : "1"]),
      ...FIGURES.map((entry) => [entry.env, String(entry.max)]),
    ])
    expect(Object.keys(env)).toHaveLength(SWITCHES.length + FIGURES.length)
    for (const name of Object.keys(env)) expect(name).toMatch(/^STRATA_[A-Z_]+$/)
    const { values } = await load({ env })
    expect(values.switches).toEqual(Object.fromEntries(SWITCHES.map(({ name, on }) => [name, !on])))
    expect(values.figures).toEqual(Object.fromEntries(FIGURES.map(({ name, max }) => [name, max])))
  })
})

describe("WIN-5 which ways of compaction are open", () => {
  test.each<[string, SettingsInput, { manual: boolean; auto: boolean }]>([
    ["by default both", {}, { manual: true, auto: true }],
    ["DISABLE_COMPACT closes both", { disableCompact: true }, { manual: false, auto: false }],
    ["DISABLE_AUTO_COMPACT closes the automatic one", { disableAutoCompact: true }, { manual: true, auto: false }],
    ["so does the setting", { autoCompactEnabled: false }, { manual: true, auto: false }],
    ["DISABLE_MICROCOMPACT closes neither", { disableMicrocompact: true }, { manual: true, auto: true }],
    ["FLG-3 off closes both", { off: true }, { manual: false, auto: false }],
    [
      "the environment's DISABLE_AUTO_COMPACT stands over the setting",
      { disableAutoCompact: true, autoCompactEnabled: true },
      { manual: true, auto: false },
    ],
  ])("%s", async (_name, given, allowed) => {
    const { values } = await combineSettings([{ source: "test", values: given }])
    expect(compactionAllowed(values)).toEqual(allowed)
  })
})
