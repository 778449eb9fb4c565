import { expect, test } from "vitest"
import { showWaiting, storeWaits, WAITING } from "../store-waiting.ts"
import { outputFilter } from "./output.ts"
import { plainStyle } from "./terminal.ts"
import { waitingLine } from "./waiting-line.ts"

function line({ canRewrite }: { readonly canRewrite: boolean }) {
  const filter = outputFilter()
  let printed = ""
  const write = (text: string) => {
    printed += filter(text).replaceAll("\u001b[1G", "<start>").replaceAll("\u001b[K", "<clear>")
  }
  const given = { print: write, complain: write, columns: 80, rows: 24, isScreen: true, canRewrite, style: plainStyle }
  const taken = () => {
    const text = printed
    printed = ""
    return text
  }
  return { ...waitingLine(given), taken }
}

test("BEY-12 on a screen the line goes before other output and comes back after it, until the store answers", () => {
  const { terminal, show, taken } = line({ canRewrite: true })
  terminal.print("Half a")
  show(true)
  expect(taken()).toBe(`Half a\n<start>${WAITING}<clear>`)
  terminal.print(" sentence")
  expect(taken()).toBe("<start><clear> sentence")
  terminal.print(".\n")
  expect(taken()).toBe(`.\n<start>${WAITING}<clear>`)
  show(false)
  terminal.complain("Done.\n")
  expect(taken()).toBe("<start><clear>Done.\n")
})

test("BEY-12 in a pipe one line says that it waits, and one that it is over", () => {
  const { terminal, show, taken } = line({ canRewrite: false })
  show(true)
  terminal.print("Meanwhile.\n")
  show(false)
  expect(taken()).toBe(`${WAITING}\nMeanwhile.\nThe database answers again.\n`)
})

test("BEY-12 of several stores the first that waits is shown and the last that answers, where the newest shows it", () => {
  const seen: string[] = []
  const shownBy = (name: string) => showWaiting((isWaiting) => seen.push(`${name} ${isWaiting}`))
  const endLine = shownBy("line")
  storeWaits(true)
  storeWaits(true)
  storeWaits(false)
  const endScreen = shownBy("screen")
  endScreen()
  storeWaits(false)
  endLine()
  storeWaits(true)
  storeWaits(false)
  expect(seen).toEqual(["line true", "line false", "screen true", "screen false", "line true", "line false"])
})
