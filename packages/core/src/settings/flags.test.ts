import { type Client, InMemoryProvider, OpenFeature } from "@openfeature/server-sdk"
import { afterAll, describe, expect, test } from "vitest"
import { CONFIGURATIONS, FIGURES, SWITCHES } from "./flag-names.ts"
import { createFlags, type FlagClient } from "./flags.ts"
import { DEFAULT_SETTINGS, loadSettings, type Settings } from "./settings.ts"

afterAll(() => OpenFeature.close())

type FlagValue = boolean | number | string | Readonly<Record<string, unknown>>
let clients = 0

/** A client of the real SDK whose provider has these values. A function receives the evaluation context. */
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
  createFlags({ settings: (await loadSettings({ home: "/nowhere", cwd: "/nowhere", env })).values }).read()

describe("FLG-1 switches", () => {
  test("the table for the documentation is complete: each has a name, a variable, a default and a sentence", () => {
    for (const entry of [...SWITCHES, ...FIGURES]) {
      expect(entry.name).toMatch(/^[a-z-]+$/)
      expect(entry.env).toBe(`STRATA_${entry.name.toUpperCase().replaceAll("-", "_")}`)
      expect(entry.description.length).toBeGreaterThan(10)
    }
    const names = [...SWITCHES, ...FIGURES].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  describe.each(SWITCHES)("$name", ({ name, on, env }) => {
    test("has its default", async () => {
      expect((await createFlags({ settings: DEFAULT_SETTINGS }).read()).on[name]).toBe(on)
    })

    test("is driven by settings", async () => {
      expect((await createFlags({ settings: settingsWith({ switches: { [name]: !on } }) }).read()).on[name]).toBe(!on)
    })

    test("is driven by the environment", async () => {
      expect((await fromEnvironment({ [env]: on ? "0" : "1" })).on[name]).toBe(!on)
    })

    test("is driven by an OpenFeature provider, which overrides settings", async () => {
      const client = await clientSaying({ [name]: !on })
      const settings = settingsWith({ switches: { [name]: on } })
      expect((await createFlags({ settings, client }).read()).on[name]).toBe(!on)
    })

    test("FLG-3 is off when everything is off, whatever a provider says", async () => {
      const client = await clientSaying({ [name]: true })
      expect((await createFlags({ settings: settingsWith({ off: true }), client }).read()).on[name]).toBe(false)
    })
  })

  test("a provider that does not know a switch leaves it to the settings", async () => {
    const client = await clientSaying({ "something-else": true })
    const flags = await createFlags({ settings: settingsWith({ switches: { notes: false } }), client }).read()
    expect(flags.on.notes).toBe(false)
    expect(flags.on["compact-reactive"]).toBe(true)
  })

  test("a provider that answers with another type leaves it to the settings", async () => {
    const client = await clientSaying({ notes: "certainly", "idle-gap": "an hour" })
    const flags = await createFlags({ settings: DEFAULT_SETTINGS, client }).read()
    expect(flags.on.notes).toBe(true)
    expect(flags.figures["idle-gap"]).toBe(60)
  })

  test("a provider gets the context of the question", async () => {
    const client = await clientSaying({
      "snip-tool": ({ model, targetingKey }) => model === "m" && targetingKey === "c1",
    })
    const forModel = (model: string) =>
      createFlags({ settings: DEFAULT_SETTINGS, client, context: { targetingKey: "c1", model } }).read()
    expect((await forModel("m")).on["snip-tool"]).toBe(true)
    expect((await forModel("other")).on["snip-tool"]).toBe(false)
  })

  test("a provider is asked at each reading, so a switch can be turned while a conversation runs", async () => {
    let on = true
    const client = await clientSaying({ notes: () => on })
    const flags = createFlags({ settings: DEFAULT_SETTINGS, client })
    const before = await flags.read()
    expect(before.on.notes).toBe(true)
    on = false
    expect(flags.current).toBe(before)
    expect((await flags.read()).on.notes).toBe(false)
    expect(flags.current.on.notes).toBe(false)
    expect(before.on.notes).toBe(true)
  })

  test("without a provider the values are computed once", async () => {
    const flags = createFlags({ settings: DEFAULT_SETTINGS })
    expect(await flags.read(["Read"])).toBe(flags.current)
    expect(await flags.readLimits(["Bash"])).toBe(flags.current)
  })

  test("WIN-5 DISABLE_MICROCOMPACT stops layer 2 and nothing else, whatever a provider says", async () => {
    const client = await clientSaying(Object.fromEntries(SWITCHES.map(({ name }) => [name, true])))
    const flags = await createFlags({ settings: settingsWith({ disableMicrocompact: true }), client }).read()
    const off = SWITCHES.filter(({ name }) => !flags.on[name]).map(({ name }) => name)
    expect(off).toEqual(["clear-by-time", "clear-by-cache-edit", "clear-by-api", "clear-by-size"])
  })
})

describe("FLG-2 figures", () => {
  test("every default is in its own range", () => {
    for (const { name, value, min, max } of FIGURES) {
      expect(value, name).toBeGreaterThanOrEqual(min)
      expect(value, name).toBeLessThanOrEqual(max)
    }
  })

  describe.each(FIGURES)("$name", ({ name, value, min, max, env }) => {
    test("default, settings, environment, provider", async () => {
      expect((await createFlags({ settings: DEFAULT_SETTINGS }).read()).figures[name]).toBe(value)
      const settings = settingsWith({ figures: { [name]: max } })
      expect((await createFlags({ settings }).read()).figures[name]).toBe(max)
      expect((await fromEnvironment({ [env]: String(max) })).figures[name]).toBe(max)
      const client = await clientSaying({ [name]: min })
      expect((await createFlags({ settings, client }).read()).figures[name]).toBe(min)
    })

    test.each(["below", "above"])(
      "%s its range it is refused, the default holds, and a message says so",
      async (side) => {
        const wrong = side === "below" ? min - 1 : max + 1
        const reports: string[] = []
        const onRefused = (message: string) => reports.push(message)
        const settings = settingsWith({ figures: { [name]: wrong } })
        expect((await createFlags({ settings, onRefused }).read()).figures[name]).toBe(value)
        expect(reports).toEqual([
          `The setting "figures.${name}" is ${wrong}, which is not between ${min} and ${max}. Using ${value} instead.`,
        ])
        const client = await clientSaying({ [name]: wrong })
        expect((await createFlags({ settings: DEFAULT_SETTINGS, client, onRefused }).read()).figures[name]).toBe(value)
        expect(reports.at(-1)).toBe(
          `The flag "${name}" says ${wrong}, which is not between ${min} and ${max}. Using ${value} instead.`,
        )
      },
    )
  })

  test("a provider's figure that is not a number is refused", async () => {
    const reports: string[] = []
    const client = await clientSaying({ "idle-gap": Number.NaN })
    const flags = await createFlags({
      settings: DEFAULT_SETTINGS,
      client,
      onRefused: (message) => reports.push(message),
    }).read()
    expect(flags.figures["idle-gap"]).toBe(60)
    expect(reports).toHaveLength(1)
  })

  test("FLG-1 a provider's value of another type is reported, and the settings hold", async () => {
    const reports: string[] = []
    const client = await clientSaying({
      ...{ notes: "enabled", "idle-gap": "an hour", "tool-result-limit.Read": "many" },
      "clear-by-time": { "idle-keep": 3 }, // an object is valid
    })
    const onRefused = (message: string) => reports.push(message)
    const settings = settingsWith({ toolResultLimits: { Read: 100 } })
    const flags = await createFlags({ settings, client, onRefused }).read(["Read"])
    expect([flags.on.notes, flags.figures["idle-gap"], flags.toolResultLimit("Read")]).toEqual([true, 60, 100])
    expect(reports.toSorted()).toEqual([
      'The flag "idle-gap" is not a number. Using 60 instead.',
      'The flag "notes" is not true or false. Using true instead.',
      'The flag "tool-result-limit.Read" is not a number. The flag is ignored.',
    ])
  })

  test("where a provider's figure is refused, the one from settings holds", async () => {
    const client = await clientSaying({ "idle-keep": -1 })
    const settings = settingsWith({ figures: { "idle-keep": 9 } })
    expect((await createFlags({ settings, client }).read()).figures["idle-keep"]).toBe(9)
  })
})

describe("FLG-2 thresholds per tool", () => {
  test("the figure holds for a tool without one of its own", async () => {
    const settings = settingsWith({ toolResultLimits: { Read: 100 }, figures: { "tool-result-limit": 7_000 } })
    const flags = await createFlags({ settings }).read()
    expect(flags.toolResultLimit("Read")).toBe(100)
    expect(flags.toolResultLimit("Bash")).toBe(7_000)
    expect(createFlags({ settings: DEFAULT_SETTINGS }).current.toolResultLimit("Bash")).toBe(50_000)
  })

  test("a provider can set one tool's threshold, or that of all others", async () => {
    const client = await clientSaying({ "tool-result-limit.Read": 5, "tool-result-limit": 8_000 })
    const flags = await createFlags({
      settings: settingsWith({ toolResultLimits: { Read: 100, Grep: 200 } }),
      client,
    }).read(["Read", "Grep", "Bash"])
    expect(flags.toolResultLimit("Read")).toBe(5)
    expect(flags.toolResultLimit("Grep")).toBe(200)
    expect(flags.toolResultLimit("Bash")).toBe(8_000)
  })

  test("a provider is asked about tools that come up later, and only about those", async () => {
    const client = await clientSaying({ "tool-result-limit.Read": 5, "tool-result-limit.Fetch": 6 })
    const flags = createFlags({ settings: DEFAULT_SETTINGS, client })
    expect((await flags.read(["Read"])).toolResultLimit("Fetch")).toBe(50_000)
    const later = await flags.readLimits(["Read", "Fetch"])
    expect([later.toolResultLimit("Read"), later.toolResultLimit("Fetch", 9)]).toEqual([5, 6])
    expect(later.toolResultLimit("Other", 9)).toBe(9)
  })

  test("out of range it is ignored, and that is reported once", async () => {
    const reports: string[] = []
    const client = await clientSaying({ "tool-result-limit.Read": -1 })
    const settings = settingsWith({ toolResultLimits: { Read: 100 } })
    const flags = createFlags({ settings, client, onRefused: (message) => reports.push(message) })
    await flags.read(["Read"])
    expect((await flags.read(["Read"])).toolResultLimit("Read")).toBe(100)
    expect(reports).toEqual([
      'The flag "tool-result-limit.Read" says -1, which is not between 0 and 100000000. The flag is ignored.',
    ])
  })
})

describe("FLG-4 a flag that carries a whole configuration", () => {
  test("sets the switch and its figures", async () => {
    const client = await clientSaying({
      "clear-by-time": { on: false, "idle-gap": 30, "idle-keep": 3 },
      "idle-gap": 45,
    })
    const { on, figures } = await createFlags({ settings: DEFAULT_SETTINGS, client }).read()
    expect([on["clear-by-time"], figures["idle-gap"], figures["idle-keep"]]).toEqual([false, 30, 3])
    expect(on["clear-by-size"]).toBe(true)
  })

  test("each field is checked by itself: a bad one keeps its value and is reported", async () => {
    const reported: string[] = []
    const client = await clientSaying({ "clear-by-time": { on: "yes", "idle-gap": -1, "idle-keep": 9, minutes: 5 } })
    const onRefused = (message: string) => reported.push(message)
    const { on, figures } = await createFlags({ settings: DEFAULT_SETTINGS, client, onRefused }).read()
    expect([on["clear-by-time"], figures["idle-gap"], figures["idle-keep"]]).toEqual([true, 60, 9])
    expect(reported).toEqual([
      'The field "on" of the flag "clear-by-time" says "yes", which is not true or false. Using true instead.',
      'The field "idle-gap" of the flag "clear-by-time" says -1, which is not between 0 and 525600. Using 60 instead.',
      'The field "minutes" of the flag "clear-by-time" is not known. It can have: on, idle-gap, idle-keep. The field is ignored.',
    ])
  })

  test("no figure belongs to two switches", () => {
    const all = Object.values(CONFIGURATIONS).flat()
    expect(new Set(all).size).toBe(all.length)
  })
})

describe("FLG-4 a slow provider", () => {
  /** A client whose lookups wait until `answer` is called. */
  function slowClient() {
    let waiting: (() => void)[] = []
    let notes = true
    const later = <T>(value: () => T) => new Promise<T>((resolve) => waiting.push(() => resolve(value())))
    const client: FlagClient = {
      getBooleanValue: (name, otherwise) => later(() => (name === "notes" ? notes : otherwise)),
      getNumberValue: (_, otherwise) => later(() => otherwise),
      getObjectValue: (_, otherwise) => later(() => otherwise),
    }
    return {
      client,
      lookups: () => waiting.length,
      answer: (on: boolean) => {
        notes = on
        const all = waiting
        waiting = []
        for (const one of all) one()
      },
    }
  }

  test("is asked for everything at the same time, and only the first reading waits for it", async () => {
    const slow = slowClient()
    const flags = createFlags({ settings: DEFAULT_SETTINGS, client: slow.client })
    const reading = flags.read(["Read", "Bash"])
    expect(slow.lookups()).toBe(2 * SWITCHES.length + FIGURES.length + 2)
    slow.answer(true)
    expect((await reading).on.notes).toBe(true)

    const second = await flags.read(["Read", "Bash"])
    expect(second.on.notes).toBe(true)
    const asked = slow.lookups()
    await flags.read(["Read", "Bash"])
    expect(slow.lookups()).toBe(asked) // reads do not overlap
    slow.answer(false)
    await new Promise((resolve) => setImmediate(resolve))
    expect(flags.current.on.notes).toBe(true) // values do not change during a turn
    expect((await flags.read([])).on.notes).toBe(false)
    expect((await flags.readLimits(["Fetch"])).on.notes).toBe(false)
  })

  test("that fails leaves everything to the settings, and is reported once", async () => {
    const reported: string[] = []
    const fails = () => Promise.reject(new Error("no route"))
    const client = { getBooleanValue: fails, getNumberValue: fails, getObjectValue: fails }
    const onRefused = (message: string) => reported.push(message)
    const flags = await createFlags({
      settings: settingsWith({ switches: { notes: false } }),
      client,
      onRefused,
    }).read()
    expect([flags.on.notes, flags.figures["idle-gap"]]).toEqual([false, 60])
    expect(reported).toEqual(["Flags cannot be read (no route). The settings apply instead."])
  })
})
