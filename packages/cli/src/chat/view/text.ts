/**
 * Text on the chat's screen: the only component that turns strings into characters on the terminal. It makes each string one visible
 * line, so no answer, name or error can draw, move the cursor or add a line. Longer texts are split into rows before they get here.
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
