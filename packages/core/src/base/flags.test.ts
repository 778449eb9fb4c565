import { type Client, InMemoryProvider, OpenFeature } from "@openfeature/server-sdk"
import { afterAll, describe, expect, test } from "vitest"
import { FIGURES, SWITCHES, type SwitchName } from "./flag-names.ts"
import { createFlags } from "./flags.ts"
import { DEFAULT_SETTINGS, loadSettings, type Settings } from "./settings.ts"

afterAll(() => OpenFeature.close())

type FlagValue = boolean | number | string
let clients = 0

/** A client of the real SDK whose provider says these values; a function gets the evaluation context. */
async function clientSaying(
  values: Readonly<Record<string, FlagValue | ((context: Readonly<Record<string, unknown>>) => FlagValue)>>,
): Promise<Client> {
  const domain = `flags-test-${clients++}`
  const configuration = Object.fromEntries(
    Object.entries(values).map(([name, value]) =>
      typeof value === "function"
        ? [
            name,
            {
              variants: { yes: true, no: false },
              defaultVariant: "no",
              disabled: false,
              contextEvaluator: (context: Record<string, unknown>) => (value(context) === true ? "yes" : "no"),
            },
          ]
        : [name, { variants: { it: value }, defaultVariant: "it", disabled: false }],
    ),
  )
  await OpenFeature.setProviderAndWait(domain, new InMemoryProvider(configuration as never))
  return OpenFeature.getClient(domain)
}

const settingsWith = (change: Partial<Settings>): Settings => ({ ...DEFAULT_SETTINGS, ...change })

const fromEnvironment = async (env: Record<string, string>) =>
  createFlags({ settings: (await loadSettings({ home: "/nowhere", cwd: "/nowhere", env })).values })

describe("FLG-1 switches", () => {
  test("there is one for each mechanism that the specification names", () => {
    const NAMED: Readonly<Record<string, SwitchName>> = {
      "tool-result storage": "tool-result-storage",
      "by-time": "clear-by-time",
      "by-cache-edit": "clear-by-cache-edit",
      "by-API": "clear-by-api",
      "by-size": "clear-by-size",
      notes: "notes",
      "compaction from notes": "compact-from-notes",
      "ahead of time": "compact-ahead",
      reactive: "compact-reactive",
      "auto memory": "auto-memory",
      dreaming: "dreaming",
      fold: "fold",
      snip: "snip",
    }
    expect(SWITCHES.map(({ name }) => name).sort()).toEqual(Object.values(NAMED).sort())
  })

  test("the table for the documentation is complete: each has a name, a variable, a default and a sentence", () => {
    for (const entry of [...SWITCHES, ...FIGURES]) {
      expect(entry.name).toMatch(/^[a-z-]+$/)
      expect(entry.env).toBe(`STRATA_${entry.name.toUpperCase().replaceAll("-", "_")}`)
      expect(entry.about.length).toBeGreaterThan(10)
    }
    const names = [...SWITCHES, ...FIGURES].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  describe.each(SWITCHES)("$name", ({ name, on, env }) => {
    test("has its default", async () => {
      expect(await createFlags({ settings: DEFAULT_SETTINGS }).isOn(name)).toBe(on)
    })

    test("is driven by settings", async () => {
      expect(await createFlags({ settings: settingsWith({ switches: { [name]: !on } }) }).isOn(name)).toBe(!on)
    })

    test("is driven by the environment", async () => {
      expect(await (await fromEnvironment({ [env]: on ? "0" : "1" })).isOn(name)).toBe(!on)
    })

    test("is driven by an OpenFeature provider, which stands over settings", async () => {
      const client = await clientSaying({ [name]: !on })
      const settings = settingsWith({ switches: { [name]: on } })
      expect(await createFlags({ settings, client }).isOn(name)).toBe(!on)
    })

    test("FLG-3 is off when everything is off, whatever a provider says", async () => {
      const client = await clientSaying({ [name]: true })
      expect(await createFlags({ settings: settingsWith({ off: true }), client }).isOn(name)).toBe(false)
    })
  })

  test("a provider that does not know a switch leaves it to the settings", async () => {
    const client = await clientSaying({ "something-else": true })
    const flags = createFlags({ settings: settingsWith({ switches: { notes: false } }), client })
    expect(await flags.isOn("notes")).toBe(false)
    expect(await flags.isOn("snip")).toBe(true)
  })

  test("a provider that answers with another type leaves it to the settings", async () => {
    const client = await clientSaying({ notes: "certainly", "idle-gap": "an hour" })
    const flags = createFlags({ settings: DEFAULT_SETTINGS, client })
    expect(await flags.isOn("notes")).toBe(true)
    expect(await flags.figure("idle-gap")).toBe(60)
  })

  test("a provider is told what it is asked for", async () => {
    const client = await clientSaying({ fold: ({ model, targetingKey }) => model === "m" && targetingKey === "c1" })
    const forModel = (model: string) =>
      createFlags({ settings: DEFAULT_SETTINGS, client, context: { targetingKey: "c1", model } }).isOn("fold")
    expect(await forModel("m")).toBe(true)
    expect(await forModel("other")).toBe(false)
  })

  test("a provider is asked each time, so a switch can be turned while a conversation runs", async () => {
    let on = true
    const client = await clientSaying({ notes: () => on })
    const flags = createFlags({ settings: DEFAULT_SETTINGS, client })
    expect(await flags.isOn("notes")).toBe(true)
    on = false
    expect(await flags.isOn("notes")).toBe(false)
  })

  test("WIN-5 DISABLE_MICROCOMPACT stops layer 2 and nothing else, whatever a provider says", async () => {
    const client = await clientSaying(Object.fromEntries(SWITCHES.map(({ name }) => [name, true])))
    const flags = createFlags({ settings: settingsWith({ disableMicrocompact: true }), client })
    const on = await Promise.all(SWITCHES.map(async ({ name }) => ((await flags.isOn(name)) ? [] : [name])))
    expect(on.flat()).toEqual(["clear-by-time", "clear-by-cache-edit", "clear-by-api", "clear-by-size"])
  })
})

describe("FLG-2 figures", () => {
  test("every default lies in its own range", () => {
    for (const { name, value, min, max } of FIGURES) {
      expect(value, name).toBeGreaterThanOrEqual(min)
      expect(value, name).toBeLessThanOrEqual(max)
    }
  })

  describe.each(FIGURES)("$name", ({ name, value, min, max, env }) => {
    test("default, settings, environment, provider", async () => {
      expect(await createFlags({ settings: DEFAULT_SETTINGS }).figure(name)).toBe(value)
      const settings = settingsWith({ figures: { [name]: max } })
      expect(await createFlags({ settings }).figure(name)).toBe(max)
      expect(await (await fromEnvironment({ [env]: String(max) })).figure(name)).toBe(max)
      const client = await clientSaying({ [name]: min })
      expect(await createFlags({ settings, client }).figure(name)).toBe(min)
    })

    test.each(["below", "above"])("%s its range it is refused, the default stands, and it is told", async (side) => {
      const wrong = side === "below" ? min - 1 : max + 1
      const told: string[] = []
      const onRefused = (message: string) => told.push(message)
      const settings = settingsWith({ figures: { [name]: wrong } })
      expect(await createFlags({ settings, onRefused }).figure(name)).toBe(value)
      expect(told).toEqual([
        `The setting "figures.${name}" is ${wrong}, which is not between ${min} and ${max}: ${value} stands.`,
      ])
      const client = await clientSaying({ [name]: wrong })
      expect(await createFlags({ settings: DEFAULT_SETTINGS, client, onRefused }).figure(name)).toBe(value)
      expect(told.at(-1)).toBe(
        `The flag "${name}" says ${wrong}, which is not between ${min} and ${max}: ${value} stands.`,
      )
    })
  })

  test("a provider's figure that is not a number is refused", async () => {
    const told: string[] = []
    const client = await clientSaying({ "idle-gap": Number.NaN })
    const flags = createFlags({ settings: DEFAULT_SETTINGS, client, onRefused: (message) => told.push(message) })
    expect(await flags.figure("idle-gap")).toBe(60)
    expect(told).toHaveLength(1)
  })

  test("where a provider's figure is refused, the one from settings stands", async () => {
    const client = await clientSaying({ "idle-keep": -1 })
    const settings = settingsWith({ figures: { "idle-keep": 9 } })
    expect(await createFlags({ settings, client }).figure("idle-keep")).toBe(9)
  })
})

describe("FLG-2 thresholds per tool", () => {
  test("the figure holds for a tool without one of its own", async () => {
    const settings = settingsWith({ toolResultLimits: { Read: 100 }, figures: { "tool-result-limit": 7_000 } })
    const flags = createFlags({ settings })
    expect(await flags.toolResultLimit("Read")).toBe(100)
    expect(await flags.toolResultLimit("Bash")).toBe(7_000)
    expect(await createFlags({ settings: DEFAULT_SETTINGS }).toolResultLimit("Bash")).toBe(50_000)
  })

  test("a provider can set one tool's threshold, or that of all others", async () => {
    const client = await clientSaying({ "tool-result-limit.Read": 5, "tool-result-limit": 8_000 })
    const flags = createFlags({ settings: settingsWith({ toolResultLimits: { Read: 100, Grep: 200 } }), client })
    expect(await flags.toolResultLimit("Read")).toBe(5)
    expect(await flags.toolResultLimit("Grep")).toBe(200)
    expect(await flags.toolResultLimit("Bash")).toBe(8_000)
  })

  test("out of range it is refused, what stood stands, and it is told", async () => {
    const told: string[] = []
    const client = await clientSaying({ "tool-result-limit.Read": -1 })
    const settings = settingsWith({ toolResultLimits: { Read: 100 } })
    const flags = createFlags({ settings, client, onRefused: (message) => told.push(message) })
    expect(await flags.toolResultLimit("Read")).toBe(100)
    expect(told).toEqual([
      'The flag "tool-result-limit.Read" says -1, which is not between 0 and 100000000: 100 stands.',
    ])
  })
})
