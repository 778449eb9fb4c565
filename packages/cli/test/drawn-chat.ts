/** The screens of the chat and the demo drawn inside the test by the real renderer, on an emulated terminal. */
import { EventEmitter } from "node:events"
import { render } from "ink"
import { historyOf } from "../src/chat/input-history.ts"
import { type ChatState, initialState } from "../src/chat/state.ts"
import { Screen } from "../src/chat/view/app.ts"
import { h } from "../src/chat/view/element.ts"
import { tidyOnResize } from "../src/chat/view/tidy-resize.ts"
import { type DemoFrame, drawOn } from "../src/demo/view.ts"
import { EmulatedScreen, type ScreenSize } from "./emulated-screen.ts"

export const RESTING = initialState(
  {
    model: "claude-opus-5-5",
    mode: "ask",
    percentLeft: 75,
    fill: "fine",
    dollars: 0.0123,
    isPriceIncomplete: false,
    turns: 3,
  },
  historyOf([]),
)

/** A terminal for the renderer. */
class Output extends EventEmitter {
  readonly isTTY = true
  columns: number
  rows: number
  readonly #screen: EmulatedScreen

  constructor(screen: EmulatedScreen, { columns, rows }: ScreenSize) {
    super()
    this.#screen = screen
    this.columns = columns
    this.rows = rows
  }

  write(text: string, ...rest: readonly unknown[]): boolean {
    this.#screen.write(text)
    const done = rest.find((value) => typeof value === "function") as (() => void) | undefined
    done?.()
    return true
  }
}

export async function drawChat(size: ScreenSize) {
  const { screen, output, resizeTo } = terminalOf(size)
  const element = (state: ChatState) => h(Screen, { state })
  const stdout = tidyOnResize(output)
  const app = render(element(RESTING), { stdout, patchConsole: false, exitOnCtrlC: false, interactive: true })
  await app.waitUntilRenderFlush()
  let shown = RESTING
  return {
    screen,
    async show(change: Partial<ChatState>) {
      shown = { ...RESTING, ...change }
      app.rerender(element(shown))
      await app.waitUntilRenderFlush()
    },
    async resize(next: ScreenSize) {
      resizeTo(next)
      app.rerender(element(shown)) // draws again, because the first frame is drawn before React knows the new size
      await app.waitUntilRenderFlush()
    },
    [Symbol.dispose]: () => app.unmount(),
  }
}

export async function drawDemo(size: ScreenSize, first: DemoFrame) {
  const { screen, output, resizeTo } = terminalOf(size)
  const { app, draw } = drawOn(output, first)
  await app.waitUntilRenderFlush()
  return {
    screen,
    async show(frame: DemoFrame) {
      draw(frame)
      await app.waitUntilRenderFlush()
    },
    async resize(next: ScreenSize) {
      resizeTo(next)
      await app.waitUntilRenderFlush()
    },
    [Symbol.dispose]: () => app.unmount(),
  }
}

function terminalOf(size: ScreenSize) {
  const screen = new EmulatedScreen(size)
  const output = new Output(screen, size)
  const resizeTo = ({ columns, rows }: ScreenSize) => {
    screen.resize({ columns, rows })
    Object.assign(output, { columns, rows })
    output.emit("resize")
  }
  return { screen, output: output as unknown as NodeJS.WriteStream, resizeTo }
}
