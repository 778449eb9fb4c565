/**
 * The only component that writes strings to the terminal. It turns each string into one escaped line, so that no answer, name or error can
 * draw, move the cursor or add a line. Longer texts are split into rows before.
 */
import { Text as InkText, type TextProps } from "ink"
import { Children, type ReactNode } from "react"
import { escapeToLine } from "../../display/visible.ts"
import { h } from "./element.ts"

export type { TextProps }

export function Text({ children, ...props }: TextProps): ReactNode {
  return h(
    InkText,
    props,
    Children.map(children, (child) => (typeof child === "string" ? escapeToLine(child) : child)),
  )
}
