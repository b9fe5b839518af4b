"""The tiny model behind an OpenAI-compatible endpoint: what a real server says of a real model."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import torch
from tests.inference.stub_endpoint import Faults
from transformers import AutoModelForCausalLM, AutoTokenizer

from leakscale.base_model import base_model_folder
from leakscale.inference.forms import Decoding, FormPrompt
from leakscale.inference.forms.local import LocalFormEngine, open_local_forms
from leakscale.models import Message

__all__ = ["ModelEndpoint"]


class ModelEndpoint:
    """Answers requests with the model that ships, one prompt at a time."""

    def __init__(self) -> None:
        self.engine: LocalFormEngine = open_local_forms(
            source=base_model_folder(), adapter=None, options={"batch_size": 1}
        )
        self.model = AutoModelForCausalLM.from_pretrained(base_model_folder())
        self.tokenizer: Any = AutoTokenizer.from_pretrained(base_model_folder())
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any], path: str, number: int, faults: Faults) -> dict[str, Any]:
        """Return the answer to a request, as vLLM words it."""
        with self._lock:
            if body.get("echo") or "prompt_logprobs" in body:
                return self._scored(body, faults)
            return self._generated(body, number, faults)

    def _generated(self, body: dict[str, Any], number: int, faults: Faults) -> dict[str, Any]:
        turns = tuple(Message(turn["role"], turn["content"]) for turn in body.get("messages", ()))
        prompt = FormPrompt(turns, is_chat=True) if turns else FormPrompt.of_text(body["prompt"])
        seeds = [int(body["seed"]).to_bytes(32, "big")] if "seed" in body else []
        (found,) = self.engine.generate(
            [prompt], decoding=Decoding(body["max_tokens"], body["temperature"]), seeds=seeds
        )
        values = [found.confidence] * max(1, found.token_count)
        reason = "length" if found.is_cut_off else faults.finish_reason(number)
        usage = {"prompt_tokens": 4, "completion_tokens": found.token_count}
        if not turns:
            listed = {"logprobs": {"token_logprobs": values}} if body.get("logprobs") else {}
            return {"choices": [{"text": found.text, "finish_reason": reason, **listed}], "usage": usage}
        content = {"logprobs": {"content": [{"logprob": value} for value in values]}} if body.get("logprobs") else {}
        message = {"role": "assistant", "content": found.text}
        return {"choices": [{"message": message, "finish_reason": reason, **content}], "usage": usage}

    def _scored(self, body: dict[str, Any], faults: Faults) -> dict[str, Any]:
        ids = self.tokenizer.encode(body["prompt"])
        with torch.inference_mode():
            log_p = torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), dim=-1)
        values = [float(log_p[at, after]) for at, (_, after) in enumerate(pairwise(ids))]
        choice: dict[str, Any] = {"text": "", "finish_reason": "length"}
        if faults.has_no_echo:
            return {"choices": [choice], "usage": {"prompt_tokens": len(ids)}}
        if body.get("echo"):
            names = [f"token_id:{each}" for each in ids]
            after = {"tokens": [*names, "token_id:7"], "token_logprobs": [None, *values, -0.5]}
            return {"choices": [choice | {"logprobs": after}], "usage": {"prompt_tokens": len(ids)}}
        listed = [None, *({str(each): {"logprob": value}} for each, value in zip(ids[1:], values, strict=True))]
        return {"choices": [choice | {"prompt_logprobs": listed}], "usage": {"prompt_tokens": len(ids)}}
