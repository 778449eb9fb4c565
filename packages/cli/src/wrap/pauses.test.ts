import { describe, expect, test } from "vitest"
import { pauses } from "./command.ts"

const NOTICE = { conversation: "one", minutes: 12.4, cost: 0.12, direct: 0.83 }

function capturePauses(options: { isQuiet?: boolean; ask?: (question: string) => Promise<boolean> } = {}) {
  const printed: string[] = []
  const terminal = { complain: (text: string) => void printed.push(text) }
  return { printed, ...pauses({ terminal, isQuiet: false, ...options }) }
}

describe("BEY-11 a pause that cost the cache", () => {
  test("a line says what the request costs, and the report adds them up", async () => {
    const { printed, onPause, lines } = capturePauses()
    expect(await onPause(NOTICE)).toBe(true)
    await onPause(NOTICE)
    expect(printed[0]).toBe(
      "After 12 minutes the server's cache has expired. This request costs about $0.1200. Without Strata: about $0.8300.\n",
    )
    expect(lines()).toEqual(["2 pauses cost the server's cache: about $0.2400, without Strata about $1.66."])
  })

  test("the person can say no; a command that draws on the terminal is left alone", async () => {
    const questions: string[] = []
    const { onPause } = capturePauses({
      ask: async (question) => {
        questions.push(question)
        return false
      },
    })
    expect(await onPause(NOTICE)).toBe(false)
    expect(questions[0]).toMatch(/costs about \$0\.12.* Send it\?$/)
    const quiet = capturePauses({ isQuiet: true })
    await quiet.onPause(NOTICE)
    expect(quiet.printed).toEqual([])
  })
})
