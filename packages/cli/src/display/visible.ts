/** Escapes control characters in text from models, tools, files and servers. */
export { escapeForTerminal, escapeToLine, jsonForTerminal, terminalEscaper } from "@strata/core/base"
