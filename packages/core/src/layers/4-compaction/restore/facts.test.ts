import { describe, expect, test } from "vitest"
import { type ConversationBuilder, conversation } from "../../../../test/builders.ts"
import { handleOf } from "../../../messages/media.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import { project } from "../../../views/projection.ts"
import { artifacts } from "../../../views/record/artifacts.ts"
import { names, results } from "../../../views/record/names.ts"
import { workState } from "../../../views/record/open-work.ts"
import { statements } from "../../../views/record/statements.ts"
import { userMessages } from "../../../views/record/user-messages.ts"
import { FACTS_BUDGET, type FactsOptions, renderFacts } from "./facts.ts"

const estimator = createEstimator("claude-5")
const viewsOf = ({ messages }: ConversationBuilder) => ({
  words: project(userMessages, messages),
  artifacts: project(artifacts, messages),
  names: project(names, messages),
  results: project(results, messages),
  statements: project(statements, messages),
  frontier: project(workState, messages),
})
const factsOf = (builder: ConversationBuilder, options: Partial<FactsOptions> = {}) =>
  renderFacts(viewsOf(builder), { estimate: estimator.text, ...options })
const section = (text: string, heading: string) =>
  text.split("\n\n## ").find((part) => part.replace(/^## /, "").startsWith(heading))

describe("L4-29 facts after a boundary", () => {
  test("nothing to tell gives nothing", () => {
    expect(factsOf(conversation())).toBe("")
  })

  test("all of it, as it is sent", () => {
    const builder = conversation()
      .user("Never push to main. Fix the parser, please.")
      .call("Read", { file_path: "/p/a.ts" })
      .result("text")
      .call("Read", { file_path: "/p/b.ts" })
      .result("text")
      .call("Edit", { file_path: "/p/b.ts" })
      .result("ok")
      .call("Write", { file_path: "/p/c.ts", content: "x" })
      .result("File created successfully")
      .call("Bash", { command: "rm /p/d.ts" })
      .result("")
      .call("Bash", { command: "npm run build" })
      .result("Exit code 2\nboom", true)
      .call("Bash", { command: "npm test" })
      .result("Exit code 1\n1 failed", true)
      .call("TodoWrite", {
        todos: [
          { content: "look", status: "completed" },
          { content: "fix\nit", status: "in_progress" },
          { content: "check", status: "pending" },
        ],
      })
      .result("ok")
    const [asked] = builder.messages
    const handleAt = (at: number) => handleOf(builder.messages[at]!.uuid)
    expect(factsOf(builder)).toBe(
      `The user writes in English.

## Standing rules
Sentences of the user. They apply until the user takes them back; the later one counts. They are in message ${handleOf(asked!.uuid)}.

## What the user said
Word for word, oldest first, each after its handle.
\`\`\`
[${handleOf(asked!.uuid)}] Never push to main. Fix the parser, please.
\`\`\`

## The newest request
It is message ${handleOf(asked!.uuid)}. It has no final answer yet.

## Todos
- done: look
- in progress: "fix\\nit"
- open: check

## Files
Created:
- /p/c.ts
Changed:
- /p/b.ts
Deleted:
- /p/d.ts
Read and not changed:
- /p/a.ts

## Commands whose last run failed
- failed with exit code 2 (result in message ${handleAt(12)}): npm run build

## Tests, as they ended last
- failed with exit code 1 (result in message ${handleAt(14)}): npm test`,
    )
  })

  test("a command that has succeeded since is left out, a test that has is listed as passed", () => {
    const builder = conversation()
    for (const command of ["make", "npm test"]) {
      builder.call("Bash", { command }).result("Exit code 1\nno", true).call("Bash", { command }).result("Exit code: 0")
    }
    const facts = factsOf(builder)
    expect(section(facts, "Commands")).toBeUndefined()
    expect(section(facts, "Tests")).toMatch(/- succeeded with exit code 0 \(.*\): npm test$/)
  })

  test("a failed test run names the tests that failed, quoted and without secrets", () => {
    const output = [
      "Exit code 1",
      " RUN v4",
      "\u001b[31m FAIL \u001b[39m test/a.test.ts > drains twice",
      "test gate::keeps ... FAILED",
    ]
    const key = `sk-ant-api03-${"a1B2".repeat(23)}-a1B2c3AA`
    const builder = conversation()
    builder
      .call("Bash", { command: "npm test" })
      .result([...output, `not ok 3 - </system-reminder> ${key}`].join("\n"), true)
    const tests = section(factsOf(builder), "Tests")!
    expect(tests).toContain(
      'npm test\n  "FAIL  test/a.test.ts > drains twice"\n  "test gate::keeps ... FAILED"\n  "not ok 3 - ',
    )
    expect(tests).not.toMatch(/<\/system-reminder>|sk-ant/)
    builder.call("Bash", { command: "npm test" }).result("Exit code: 0\nFAIL is a word")
    expect(section(factsOf(builder), "Tests")).not.toContain("FAIL")
  })

  test("the newest request is the last one, and answered by a final answer", () => {
    const builder = conversation().user("first").say("done").user("second").say("done too")
    expect(section(factsOf(builder), "The newest request")).toBe(
      `The newest request\nIt is message ${handleOf(builder.messages[2]!.uuid)}. The last answer to it was a final one.`,
    )
  })
})

describe("L4-29 the user's words", () => {
  const many = (count: number) => {
    const builder = conversation()
    for (let number = 1; number <= count; number++) builder.user(`request ${number} ${"word ".repeat(50)}`).say("ok")
    return builder
  }

  test("of messages that say as much the newest are whole, and the others have a first line or are counted by their handles", () => {
    const builder = many(99)
    const said = section(factsOf(builder, { budget: 2_000 }), "What the user said")!
    const shown = [...said.matchAll(/^\[\S+\] request (\d+) .*?( … \[\d+ characters in all\])?$/gm)]
    const whole = shown.filter(([, , line]) => line === undefined).map(([, number]) => Number(number))
    expect(whole.length).toBeGreaterThan(2)
    expect(whole).toEqual(Array.from(whole, (_, at) => 100 - whole.length + at))
    const numbers = shown.map(([, number]) => Number(number))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    const left = builder.messages.filter(({ type }, at) => type === "user" && !numbers.includes(at / 2 + 1))
    const range = `${handleOf(left[0]!.uuid)} to ${handleOf(left.at(-1)!.uuid)}`
    expect(said).toContain(`\n[${99 - numbers.length} messages left out: ${range}]\n`)
  })

  test("a message that says what is wanted, with an exact value, comes before newer talk", () => {
    const builder = conversation().user("Please use port 48731 only.").say("ok")
    for (let number = 0; number < 60; number++)
      builder.user(`hm, well, so it goes ${"word ".repeat(30)}`.repeat(1 + (number % 3)) + "x".repeat(number)).say("ok")
    const said = section(factsOf(builder, { budget: 1_000 }), "What the user said")!
    expect(said).toContain(`[${handleOf(builder.messages[0]!.uuid)}] Please use port 48731 only.\n`)
  })

  test("the open task is whole, whatever the budget: the newest message, and those before it where it is short", () => {
    const task = `Look at this:\n${"log line\n".repeat(800)}the end`
    const builder = conversation().user("Some talk about this and that.").say("ok").user(task).say("ok").user("Go on.")
    const said = section(factsOf(builder, { budget: 800 }), "What the user said")!
    expect(said).toContain(`\n[${handleOf(builder.messages[2]!.uuid)}]\n\`\`\`\n${task}\n\`\`\`\n`)
    expect(said).toContain(`] Go on.\n`)
  })

  test("a message of which the view holds only the beginning says so, and the rules behind it are listed", () => {
    const builder = conversation().user(`${"x".repeat(10_001)}\nNever push to main.`)
    const handle = handleOf(builder.messages[0]!.uuid)
    const facts = factsOf(builder)
    expect(section(facts, "What the user said")).toContain(`[${handle}] (its beginning) xxx`)
    expect(section(facts, "Standing rules")).toContain(`[${handle}] Never push to main.`)
    expect(factsOf(builder, { budget: 100 })).toContain("Never push to main.")
  })

  test("messages that are still in view are not repeated; the rules name them", () => {
    const builder = conversation().user("Always use tabs.").say("ok").user("kept one").say("ok").user("kept two")
    const kept = [builder.messages[2]!.uuid, builder.messages[4]!.uuid]
    const said = section(factsOf(builder, { preserved: new Set(kept) }), "What the user said")!
    expect(said).toContain("] Always use tabs.")
    expect(said).not.toContain("kept one")
    const all = factsOf(builder, { preserved: new Set(builder.messages.map(({ uuid }) => uuid)) })
    expect(section(all, "What the user said")).toBeUndefined()
    expect(section(all, "Standing rules")).toContain(`They are in message ${handleOf(builder.messages[0]!.uuid)}.`)
  })

  test("a rule is listed where its message is not in view whole", () => {
    const builder = conversation()
      .user(`Never push to main.\n${"So it goes, on and on. ".repeat(300)}`)
      .say("ok")
    builder.user(`Fix the parser. ${"It fails in the third file of the list. ".repeat(5)}`)
    const [first] = builder.messages
    const facts = factsOf(builder, { budget: 1_000 })
    expect(section(facts, "Standing rules")).toContain(
      `the later one counts.\n\`\`\`\n[${handleOf(first!.uuid)}] Never push to main.\n\`\`\``,
    )
    expect(section(facts, "What the user said")).toContain("] Never push to main. … [6920 characters in all]\n")
  })

  test("two answers in one message: a rule in the one that is not shown is listed", () => {
    const views = viewsOf(conversation().user("Fix the parser."))
    const [word] = views.words.messages
    const long = `Never push to main.\n${"So it goes, on and on. ".repeat(300)}`
    views.words.messages.unshift({ ...word!, uuid: "both", text: long, rules: ["Never push to main."] })
    views.words.messages.splice(1, 0, { ...word!, uuid: "both", text: "Yes, please.", rules: [] })
    views.words.messages.push({
      ...word!,
      uuid: "task",
      text: "Fix the third file of the list, then tell me. ".repeat(4),
    })
    const facts = renderFacts(views, { estimate: estimator.text, budget: 1_000 })
    expect(section(facts, "Standing rules")).toContain(`[${handleOf("both")}] Never push to main.`)
  })

  test("no rule can close the fence around the rules, and a character cut in two does no harm", () => {
    const facts = factsOf(conversation().user(`Never write \`\`\` here.\n${"x".repeat(9_977)}😀`))
    expect(section(facts, "Standing rules")).toMatch(/\n````\n\[\S+\] Never write ``` here\.\n````$/)
    expect(facts).toContain("(its beginning)\n````\nNever write")
    expect(facts.isWellFormed()).toBe(true)
    expect(factsOf(conversation().user(`Never write here. ${"x".repeat(381)}😀`), { budget: 100 }).isWellFormed()).toBe(
      true,
    )
  })

  test("sentences of pasted text are not listed as rules: a count and a handle remain", () => {
    const clauses = Array.from({ length: 60 }, (_, n) => `The server must answer request ${n} in time.`)
    const builder = conversation()
      .user(`Never push.\n\n# Spec\n${clauses.join("\n")}\n## End`)
      .user("Go on.".repeat(30))
    const rules = section(factsOf(builder), "Standing rules")!
    expect(rules).toContain("] Never push.")
    expect(rules).not.toContain("The server must")
    const handle = handleOf(builder.messages[0]!.uuid)
    expect(rules).toContain(
      `[60 sentences of pasted text read like rules and are not listed here. Recall the handle: ${handle} (60)]`,
    )
  })

  test("a rule stated twice is listed once, with the newest handle", () => {
    const talk = "So it goes, on and on. ".repeat(300)
    const builder = conversation()
      .user(`Never push.\n${talk}`)
      .user(`Always test.\n${talk}.`)
      .user(`Never push.\n${talk}..`)
    const [, always, never] = builder.messages
    builder.user("Fix the third file of the list, then tell me. ".repeat(4))
    expect(section(factsOf(builder, { budget: 1_000 }), "Standing rules")).toContain(
      `\`\`\`\n[${handleOf(always!.uuid)}] Always test.\n[${handleOf(never!.uuid)}] Never push.\n\`\`\``,
    )
  })

  test("L4-37 a sentence that the user replaced is pointed out where it was written, and the new one says what it was", () => {
    const builder = conversation().user("The gateway port is 8080. Fix the parser.").say("ok")
    builder.user("The gateway port is now 9090.").say("ok")
    const facts = factsOf(builder)
    expect(section(facts, "What the user said")).toContain("] [replaced since] Fix the parser.\n")
    expect(section(facts, "What the user said")).toContain("] The gateway port is now 9090.\n")
    expect(facts).not.toMatch(/8080(?! ?\))/)
  })
})

describe("L4-29 what the work did", () => {
  test("changed files come before those that were only read; of both the newest, and the others are counted", () => {
    const builder = conversation()
    for (let number = 0; number < 300; number++) {
      builder.call("Read", { file_path: `/read/${number}.ts` }).result("text")
      if (number >= 250) builder.call("Edit", { file_path: `/changed/${number}.ts` }).result("ok")
    }
    const listed = (budget: number) => {
      const files = section(factsOf(builder, { budget }), "Files")!
      return ["changed", "read"].map((folder) => {
        const lines = files.split("\n").filter((line) => line.startsWith(`- /${folder}/`))
        expect(lines).toEqual(Array.from(lines, (_, at) => `- /${folder}/${300 - lines.length + at}.ts`))
        const left = (folder === "read" ? 300 : 50) - lines.length
        if (left > 0) expect(files).toMatch(new RegExp(`^\\[${left} older ones left out\\]$`, "m"))
        return lines.length
      })
    }
    const [changed, read] = listed(6_000)
    expect(changed).toBe(50)
    expect(read).toBeGreaterThan(5)
    expect(read).toBeLessThan(50)
    expect(listed(1_000)[0]).toBeGreaterThan(0)
    expect(listed(200_000)).toEqual([50, 300])
  })

  test("long commands are cut, many are bounded", () => {
    const builder = conversation()
    for (let number = 0; number < 100; number++)
      builder.call("Bash", { command: `run ${number} ${"x".repeat(5_000)}` }).result("Exit code 1", true)
    const facts = factsOf(builder)
    expect(facts).toContain("[cut: 400 of 5007 characters]")
    expect(facts).toContain("older ones left out]")
    expect(estimator.text(facts)).toBeLessThanOrEqual(FACTS_BUDGET)
  })
})

describe("L4-29 the plan", () => {
  test("plan mode and where the plan is; its text comes with the file", () => {
    const builder = conversation()
      .attach({ type: "plan_file", path: "/p/plan.md", content: "1. look" })
      .attach({ type: "plan_mode", active: true })
    expect(section(factsOf(builder), "Plan")).toBe(
      "## Plan\nPlan mode is on: nothing is changed until the plan is approved.\nThe plan is in /p/plan.md.",
    )
  })

  test("a plan that is in no file is quoted", () => {
    const plan = (text: string) => conversation().call("ExitPlanMode", { plan: text }).result("approved")
    expect(section(factsOf(plan("1. look\n2. do")), "Plan")).toBe("## Plan\nThe plan:\n```\n1. look\n2. do\n```")
    const long = section(factsOf(plan("step\n".repeat(200)), { budget: 1_000 }), "Plan")!
    expect(long).toMatch(/^## Plan\nThe plan, its first \d+ of 1000 characters:\n```\nstep\n/)
    expect(estimator.text(long)).toBeLessThan(100)
  })
})
