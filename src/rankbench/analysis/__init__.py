"""What measured values say: statistics, questions to a campaign, claims, and the evaluation of a store."""
