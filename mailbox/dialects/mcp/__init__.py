"""The door for clients of the Model Context Protocol, at `/mcp`: tools and resources over streamable HTTP."""
