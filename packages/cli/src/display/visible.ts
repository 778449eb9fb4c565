/** Text from models, tools, files and servers, made harmless for a terminal. */
export { printable, visible, visibleJson, visibleStream } from "@strata/core/base"
