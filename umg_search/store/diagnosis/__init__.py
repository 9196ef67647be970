"""The health of a deployment: facts gathered from a server, and pure judgements over them."""
