/** Text from models, tools, files and servers, made harmless for a terminal. */
export { escapeForTerminal, escapeToLine, jsonForTerminal, terminalEscaper } from "@strata/core/base"
