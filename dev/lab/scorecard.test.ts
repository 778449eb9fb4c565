import { describe, expect, it } from "vitest"
import { size } from "../../packages/core/test/size.ts"
import { standIn } from "./scorecard/contestants/stand-in.ts"
import { STRATA } from "./scorecard/contestants/strata.ts"
import { typedSession } from "./scorecard/corpora/typed.ts"
import { CORPORA } from "./scorecard/corpora.ts"
import { scorecardPicture } from "./scorecard/picture.ts"
import { aimsReport, contestantTable, kindsTable, lostList, markdownTables, totalsOf } from "./scorecard/report.ts"
import { type Contestant, listRun, runSession } from "./scorecard/run.ts"
import { scoreView } from "./scorecard/score.ts"
import { type Fact, textOf, user } from "./scorecard/session.ts"

const CAP: Fact = { id: "cap", kind: "constraint", needs: ["$956", "cap"], stale: ["$201"] }
const scoreOf = (text: string, fact = CAP) => scoreView([user(text)], { facts: [fact], source: text }).facts[0]!

const keeping = (name: string, share: number): Contestant => ({
  ...{ name, call: "the beginning", takesBudget: false, hasStandIn: false },
  start: async () =>
    listRun(async (messages) => {
      const text = textOf(messages)
      return [user(text.slice(0, text.length * share))]
    }),
})

describe("the corpora of the scorecard", () => {
  it("are the same in every run, and say each fact with its newest value (BEY-19)", () => {
    for (const { sessions } of CORPORA) {
      const made = sessions({ isQuick: true })
      expect(sessions({ isQuick: true }).map(({ messages }) => messages)).toEqual(made.map(({ messages }) => messages))
      for (const { messages, facts, between } of made) {
        expect(between(1)).toEqual(between(1))
        const { facts: scores } = scoreView(messages, { facts, source: textOf(messages) })
        expect(scores.filter(({ isInView }) => !isInView)).toEqual([])
        const changed = facts.filter(({ stale }) => stale).map(({ id }) => id)
        expect(scores.filter(({ hasEarlier }) => hasEarlier).map(({ id }) => id)).toEqual(changed)
      }
    }
  })

  it("leave about a quarter of the text for what matters among typed statements (BEY-19)", () => {
    const { messages, facts } = typedSession(1, "typed", { isLabelled: true, isGrown: false })
    const statements = messages.filter(({ content }) => /^[A-Z ]+: /.test(content as string))
    expect(statements).toHaveLength(facts.length + 2)
    const share = textOf(statements).length / textOf(messages).length
    expect(share).toBeGreaterThan(0.2)
    expect(share).toBeLessThan(0.35)
  })
})

describe("the score of a view", () => {
  it("finds a fact only where all of it is in view, whatever its case (BEY-19)", () => {
    expect(scoreOf("The CAP is $956.").isInView).toBe(true)
    expect(scoreOf("The cap is lower.").isInView).toBe(false)
    expect(scoreOf("It costs $956.").isInView).toBe(false)
  })

  it("counts an earlier value that nothing marks as earlier (BEY-19)", () => {
    expect(scoreOf("The cap is $201.\nThe cap is $956.")).toMatchObject({ isInView: true, stale: ["$201"] })
    expect(scoreOf("The cap is $956 (was $201).")).toMatchObject({ stale: [], hasEarlier: true })
    expect(scoreOf("Replaced: The cap is $201.\nThe cap is $956.").stale).toEqual([])
    expect(scoreOf("It was Monday. The cap is $201.").stale).toEqual(["$201"])
    expect(scoreOf("The cap is $2015 and $956.").hasEarlier).toBe(false)
    const manager: Fact = { id: "manager", kind: "changed", needs: ["pnpm"], stale: ["npm"] }
    expect(scoreOf("Use pnpm instead of npm.", manager)).toMatchObject({ isInView: true, stale: [] })
    expect(scoreOf("Use pnpm. Use npm.", manager).stale).toEqual(["npm"])
  })

  it("names what nobody ever wrote, except sizes and the contestant's own addresses (BEY-19)", () => {
    const source = "Read /etc/gate.toml with loadGate on port 8443."
    const view = "loadGate reads /etc/gate.toml and src/made-up.ts, port 9999, 1234 characters, abcdef0123 has it."
    const { inventions } = scoreView([user(view)], { facts: [], source, own: /abcdef0123/g })
    expect(inventions).toEqual(["src/made-up.ts", "9999"])
  })
})

describe("a run of the scorecard", () => {
  const session = typedSession(3, "typed", { isLabelled: true, isGrown: true })

  it("sees what is lost, what is over budget, and that more messages come between rounds (BEY-19)", async () => {
    const all = await runSession(keeping("all", 1), { corpus: "typed", session, share: 0.3, rounds: 2 })
    expect(totalsOf(all)).toMatchObject({ facts: 40, inView: 40, over: 2, views: 2, stale: 4, inventions: 0 })
    expect(all[1]!.tokens).toBeGreaterThan(all[0]!.tokens)
    const none = await runSession(keeping("none", 0), { corpus: "typed", session, share: 0.3, rounds: 2 })
    expect(totalsOf(none)).toMatchObject({ inView: 0, over: 0, stale: 0 })
    expect(contestantTable([...all, ...none])).toMatch(/^all +100%\* +4 +0 +2 of 2 .*\nnone +0% +0 +0 +0 of 2 /m)
    expect(aimsReport(all, "all", ["typed"])).toMatch(
      /30%: 0% in view within the budget, aim 100%: missed\n.*4 stale, 2 over/,
    )
    expect(lostList(none).split("\n")).toHaveLength(20)
    expect(lostList(all)).toMatch(/^all, typed-3 at 30%: constraint "constraint-1" stale \$\d+$/m)
    expect(markdownTables([...all, ...none], ["typed"])).toMatch(
      /^\| all \| 100%\* \| 4 \| 0 \| 2 of 2 \| [\d.]+% \|$/m,
    )
    expect(kindsTable(all, "all")).toMatch(/^typed: safety +4 of 4$/m)
    expect(scorecardPicture([...all, ...none], ["typed"])).toMatch(/^<svg [\s\S]*<title>[\s\S]*none[\s\S]*<\/svg>\n$/)
  })

  it("takes every way into Strata through its rounds, with nothing invented (BEY-19)", async () => {
    for (const contestant of STRATA.slice(0, size(3, STRATA.length))) {
      const scores = await runSession(contestant, { corpus: "typed", session, share: 0.3, rounds: 2 })
      expect(scores.map(({ round }) => round)).toEqual([1, 2])
      expect(scores.flatMap(({ inventions }) => inventions)).toEqual([])
      expect(totalsOf(scores).inView).toBeGreaterThan(0)
    }
  })

  it("gives the same text to the same request for a summary, within its tokens, and nothing of the request's own words (BEY-19)", () => {
    const source = "The port is 8443.\nThe port is open.\nKestrel gates close early."
    const prompt = `Summarise the conversation with great care.\n[User]: ${source}`
    const options = { tokens: 8, source: () => source }
    expect(standIn(prompt, options)).toBe("Kestrel gates close early.")
    expect(standIn(prompt, { ...options, tokens: 100 })).toBe(source)
  })
})
