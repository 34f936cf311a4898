"""Laws of the policy package."""
