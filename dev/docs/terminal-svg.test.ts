import { expect, test } from "vitest"
import { EmulatedScreen } from "../../packages/cli/test/emulated-screen.ts"
import { drawRow, terminalSvg } from "./terminal-svg.ts"

const SIZE = { columns: 20, rows: 3 }

function screenAfter(output: string) {
  const screen = new EmulatedScreen(SIZE)
  screen.write(output)
  return screen.styledRows()
}

const film = (...outputs: readonly string[]) =>
  terminalSvg({
    ...SIZE,
    title: "a & b",
    frames: outputs.map((output, i) => ({ rows: screenAfter(output), seconds: i + 1 })),
    still: outputs.length - 1,
  })

test("a run of text has its column, its width and its styles", () => {
  const [row] = screenAfter("ab \u001b[1m\u001b[31mred\u001b[22m!\u001b[39m   c")
  expect(drawRow(row!)).toBe(
    [
      '<text x="0" y="13" textLength="24">ab </text>',
      '<text x="24" y="13" textLength="24" class="bold red">red</text>',
      '<text x="48" y="13" textLength="8" class="red">!</text>',
      '<text x="80" y="13" textLength="8">c</text>',
    ].join(""),
  )
})

test("letters of two columns push what follows", () => {
  const [row] = screenAfter("日本\u001b[2m!")
  expect(drawRow(row!)).toBe(
    '<text x="0" y="13" textLength="32">日本</text><text x="32" y="13" textLength="8" class="dim">!</text>',
  )
})

test("bold and dim can be combined and end together, a colour replaces another, and 0 ends all", () => {
  const [row] = screenAfter("\u001b[1;2;31ma\u001b[36mb\u001b[22mc\u001b[0md")
  expect(row).toEqual([
    { text: "a", styles: ["bold", "dim", "red"] },
    { text: "b", styles: ["bold", "dim", "cyan"] },
    { text: "c", styles: ["cyan"] },
    { text: "d", styles: [] },
  ])
})

test("blocks are rectangles without gaps, as high as their eighths", () => {
  const [row] = screenAfter("\u001b[36m██▄\u001b[39m·")
  expect(drawRow(row!)).toBe(
    [
      '<rect x="0" y="1" width="16" height="15" class="cyan"/>',
      '<rect x="16" y="8" width="8" height="8" class="cyan"/>',
      '<text x="24" y="13" textLength="8">·</text>',
    ].join(""),
  )
})

test("a row that frames share is stored once, and each frame starts when the one before has ended", () => {
  const svg = film("same\none", "same\ntwo", "\nsame")
  expect(svg.match(/>same</g)).toHaveLength(1)
  expect(svg.match(/<use href="#r0" y="(?:0|17)"\/>/g)).toHaveLength(3)
  expect(svg).toContain("animation:film 6s step-end infinite")
  expect(svg).toContain(
    "@keyframes film{0%{transform:translateX(0px)}16.67%{transform:translateX(-160px)}50%{transform:translateX(-320px)}}",
  )
})

test("without motion it shows the still frame, and text cannot become markup", () => {
  const svg = film("<b>", "& <script>")
  expect(svg).toContain(
    ".film{transform:translateX(-160px)}@media (prefers-reduced-motion:no-preference){.film{animation:",
  )
  expect(svg).toContain("<title>a &#38; b</title>")
  expect(svg).not.toMatch(/<b>|<script/)
})
